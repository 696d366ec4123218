import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe } from 'vitest'
import { openProcesses, type Processes } from '../../src/effects/process/processes.ts'
import type { Isolation, IsolationLevel } from '../../src/effects/sandbox/sandbox.ts'
import { describeIsolation, plantSecrets } from './conformance.ts'
import { makeFolder } from './subject.ts'

/** Holds an isolation to its promises in this process, with secrets all around. */
export function describeHere(
  level: IsolationLevel,
  open: (processes: Processes, settings: { stateFolder: string }) => Promise<Isolation>,
): void {
  const uid = process.getuid?.() ?? 0
  const stateFolder = makeFolder(uid)
  const home = makeFolder(uid)
  const processes = openProcesses(stateFolder)
  const environment = { ...process.env }
  let isolation: Isolation

  beforeAll(async () => {
    plantSecrets(home, process.env)
    isolation = await open(processes, { stateFolder })
  })

  afterAll(async () => {
    await processes.close()
    process.env = environment
    for (const folder of [stateFolder, home]) rmSync(folder, { recursive: true })
  })

  describe(level, () => {
    describeIsolation({ level, uid, stateFolder, isolation: () => isolation }, home)
  })
}
