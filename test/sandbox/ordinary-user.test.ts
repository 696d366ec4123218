import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeIsolation, plantSecrets } from './conformance.ts'
import { HIDDEN_MEMORY } from './hidden-memory.ts'
import { describeLowPort } from './promises/hosts.ts'
import { buildWorker, openRemote, type RemoteIsolation } from './remote-isolation.ts'
import { inSandbox, makeFolder } from './subject.ts'

// Whoever runs this is an ordinary user already, unless it is root.
const isRoot = process.getuid?.() === 0
const uid = isRoot ? 48_123 : (process.getuid?.() ?? 0)
const become = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups']
const stateFolder = makeFolder(uid)
const home = makeFolder(uid)
const env: NodeJS.ProcessEnv = {}
let worker: ReturnType<typeof buildWorker>
let isolation: RemoteIsolation

beforeAll(async () => {
  plantSecrets(home, env)
  worker = buildWorker()
  const before = isRoot ? become : []
  const where = { level: 'bubblewrap', worker: worker.file, stateFolder } as const
  isolation = await openRemote({ ...where, before, env })
})

afterAll(async () => {
  await isolation.close()
  worker.remove()
  for (const folder of [stateFolder, home]) rmSync(folder, { recursive: true })
})

describe('bubblewrap of an ordinary user', () => {
  test.runIf(isRoot)('has no groups to bound its commands by, and says so', () => {
    expect(isolation.description).toContain('watched')
  })

  const subject = { level: 'bubblewrap', uid, stateFolder, isolation: () => isolation } as const

  for (const [name, take] of Object.entries(HIDDEN_MEMORY)) {
    test(`does not get around the bound of memory by ${name}`, () =>
      inSandbox(subject, { limits: { memoryBytesMax: 150 * 1024 ** 2 } }, async ({ sandbox }) => {
        const run = (mib: number) => {
          const argv = ['/usr/bin/python3', '-c', take(mib)] as const
          return sandbox.run({ argv, timeoutMs: 20_000, outputBytesMax: 10_000 })
        }
        expect((await run(30)).output.toString()).toContain('took it all')
        expect((await run(400)).output.toString()).not.toContain('took it all')
        expect((await run(1)).how).toBe('exited')
      }))
  }

  describeLowPort(subject)
  describeIsolation(subject, home)
})
