import { existsSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plantSecrets } from './conformance.ts'
import { describeConfinement } from './promises/confinement.ts'
import { describeLimits } from './promises/limits.ts'
import { describePowers } from './promises/powers.ts'
import { describeSecrets } from './promises/secrets.ts'
import { buildWorker, openRemote, type RemoteIsolation } from './remote-isolation.ts'
import { inSandbox, makeFolder, type Subject } from './subject.ts'
import { waitForSpare } from './waiting.ts'

/** Starts a program that sees this machine without some of its means. */
const without = (mount: string) =>
  ['unshare', '--mount', 'sh', '-c', `mount ${mount} && exec "$@"`, 'sh'] as const

// Only root can take them away.
describe.runIf(process.getuid?.() === 0)('bubblewrap', () => {
  const stateFolder = makeFolder(0)
  const home = makeFolder(0)
  const env: NodeJS.ProcessEnv = {}
  let worker: ReturnType<typeof buildWorker>

  beforeAll(() => {
    plantSecrets(home, env)
    worker = buildWorker()
  })

  afterAll(() => {
    worker.remove()
    for (const folder of [stateFolder, home]) rmSync(folder, { recursive: true })
  })

  function describeWithout(name: string, mount: string, use: (subject: Subject) => void): void {
    describe(name, () => {
      let isolation: RemoteIsolation
      beforeAll(async () => {
        const before = without(mount)
        const where = { level: 'bubblewrap', worker: worker.file, stateFolder } as const
        isolation = await openRemote({ ...where, before, env })
      })
      afterAll(() => isolation.close())
      use({ level: 'bubblewrap', uid: 0, stateFolder, isolation: () => isolation })
    })
  }

  describeWithout(
    'without groups watches its commands',
    '-t tmpfs none /sys/fs/cgroup',
    (subject) => {
      test('and says so', () => {
        expect(subject.isolation().description).toContain('watched')
      })
      describeLimits(subject)
      test('and ends the one that waits for its command when the sandbox is closed', async () => {
        let spare = 0
        await inSandbox(subject, {}, async ({ sh, workspace }) => {
          await sh('true')
          spare = await waitForSpare(workspace)
          expect((await sh('exit 3')).exitCode).toBe(3)
          spare = await waitForSpare(workspace)
        })
        expect(existsSync(`/proc/${spare}`)).toBe(false)
      })
    },
  )

  describeWithout('without nsenter', '--bind /dev/null /usr/bin/nsenter', (subject) => {
    test('gives each command a home of its own, and says so', () =>
      inSandbox(subject, {}, async ({ sh }) => {
        expect(subject.isolation().description).toContain('a home of its own')
        await sh('touch $HOME/note')
        expect((await sh('ls $HOME')).stdout.toString()).toBe('')
      }))

    test('refuses allowed hosts', async () => {
      const opening = inSandbox(subject, { hosts: ['example.org'] }, async () => {})
      await expect(opening).rejects.toThrow('need nsenter')
    })

    describeConfinement(subject, home)
    describeSecrets(subject, home)
    describePowers(subject)
  })
})
