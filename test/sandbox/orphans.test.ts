import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { IsolationLevel } from '../../src/effects/sandbox/sandbox.ts'
import { buildWorker, openRemote, type RemoteIsolation } from './remote-isolation.ts'
import { countRunning, inSandbox, isRunning, makeFolder, sleepMark } from './subject.ts'

const KILLS = Number(process.env.SLIPWAY_SANDBOX_KILLS ?? 5)

const uid = process.getuid?.() ?? 0
let worker: ReturnType<typeof buildWorker>
const folders: string[] = []

beforeAll(() => {
  worker = buildWorker()
})

afterAll(() => {
  worker.remove()
  for (const folder of folders) rmSync(folder, { recursive: true })
})

function newStateFolder(): string {
  const folder = makeFolder(uid)
  folders.push(folder)
  return folder
}

const start = (level: IsolationLevel, stateFolder: string) =>
  openRemote({ level, worker: worker.file, stateFolder })

/** Starts a command that goes on, and kills its orchestrator so long after. */
async function abandon(
  isolation: RemoteIsolation,
  stateFolder: string,
  mark: string,
  until: () => Promise<unknown>,
): Promise<void> {
  const subject = { level: isolation.level, uid, stateFolder, isolation: () => isolation }
  const use = inSandbox(subject, {}, async ({ sh }) => {
    void sh(`setsid sleep ${mark} & (env -i sleep ${mark} &) ; sleep ${mark}`).catch(() => {})
    await until()
    await isolation.kill()
  })
  await use.catch(() => {})
}

test('bubblewrap ends what a killed orchestrator left, at once', async () => {
  const stateFolder = newStateFolder()
  const mark = sleepMark()
  // The command itself: what is killed before that is left to the next orchestrator, as below.
  const command = `sleep\0${mark}\0`
  const running = () => expect.poll(() => isRunning(command), { timeout: 10_000 }).toBe(true)
  await abandon(await start('bubblewrap', stateFolder), stateFolder, mark, running)
  await expect.poll(() => isRunning(mark), { timeout: 2_000 }).toBe(false)
  const next = await start('bubblewrap', stateFolder)
  await next.close()
  const notes = readdirSync(join(stateFolder, 'sandbox'))
  expect(notes.filter((name) => name.endsWith('.cgroups'))).toEqual([])
})

test('without a sandbox the next orchestrator ends it', async () => {
  const stateFolder = newStateFolder()
  const mark = sleepMark()
  const running = () => expect.poll(() => isRunning(mark), { timeout: 10_000 }).toBe(true)
  await abandon(await start('none', stateFolder), stateFolder, mark, running)
  expect(isRunning(mark)).toBe(true)
  const next = await start('none', stateFolder)
  await next.endOrphans()
  expect(isRunning(mark)).toBe(false)
  await next.close()
})

test('without a sandbox also what has left parent, session and environment', async () => {
  const stateFolder = newStateFolder()
  const mark = sleepMark()
  const isolation = await start('none', stateFolder)
  const subject = { level: 'none', uid, stateFolder, isolation: () => isolation } as const
  const use = inSandbox(subject, {}, async ({ sh }) => {
    void sh(
      `(env -i setsid sleep ${mark} &); (env -u SLIPWAY_PROCESS setsid sleep ${mark} &); sleep 60`,
    ).catch(() => {})
    await expect.poll(() => countRunning(`sleep\0${mark}`), { timeout: 10_000 }).toBe(2)
    await isolation.kill()
  })
  await use.catch(() => {})
  expect(countRunning(`sleep\0${mark}`)).toBe(2)
  const next = await start('none', stateFolder)
  await next.endOrphans()
  expect(countRunning(mark)).toBe(0)
  await next.close()
})

test(`nothing is left of ${KILLS} orchestrators that were killed while they started a command`, async () => {
  const stateFolder = newStateFolder()
  const mark = sleepMark()
  for (let i = 0; i < KILLS; i += 1) {
    const isolation = await start('bubblewrap', stateFolder)
    await abandon(isolation, stateFolder, mark, () => sleep(Math.random() * 25))
  }
  const last = await start('bubblewrap', stateFolder)
  await last.endOrphans()
  await expect.poll(() => isRunning(mark), { timeout: 10_000 }).toBe(false)
  await last.close()
  expect(isRunning(stateFolder)).toBe(false)
})
