import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeCommands } from './promises/commands.ts'
import { describeConfinement } from './promises/confinement.ts'
import { describeLimits } from './promises/limits.ts'
import { describePowers } from './promises/powers.ts'
import { describeProcesses } from './promises/processes.ts'
import { canaries, describeEnvironment, describeSecrets, TIME_ZONE } from './promises/secrets.ts'
import { PROMISES, type Subject } from './subject.ts'

/** Holds an isolation to what its level promises. */
export function describeIsolation(subject: Subject, home: string): void {
  const promises = PROMISES[subject.level]
  describeCommands(subject)
  describeEnvironment(subject)
  describeProcesses(subject, promises.fugitivesEnd)
  if (promises.confinesFiles) describeConfinement(subject, home)
  if (promises.hidesSecrets) describeSecrets(subject, home)
  if (promises.dropsPowers) describePowers(subject)
  if (promises.keepsLimits) describeLimits(subject)
}

/** Puts secrets where an orchestrator and its user have them, and beside them what is none. */
export function plantSecrets(home: string, environment: NodeJS.ProcessEnv): void {
  const secrets = canaries()
  Object.assign(environment, secrets, { HOME: home, TZ: TIME_ZONE })
  const files = [
    '.ssh/id_rsa',
    '.config/gh/hosts.yml',
    '.npmrc',
    '.netrc',
    '.aws/credentials',
    '.env',
  ]
  for (const file of files) {
    const path = join(home, file)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, Object.values(secrets).join('\n'))
  }
}
