import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { obedient, THINK } from '../../../test/drill/obedient-role.ts'
import { coordinator } from '../../agents/coordinator/coordinator.ts'
import { coordinatorOf, TASK_BROUGHT } from '../../agents/coordinator/protocol.ts'
import type { AgentId, EventId, Json, RunId } from '../../agents/values.ts'
import { openBlobFiles } from '../../journal/blob-files.ts'
import { openDatabase } from '../../journal/sqlite/driver.ts'
import { openSqliteJournal } from '../../journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../runtime/clock.ts'
import type { EffectHandler } from '../../runtime/effect-handler.ts'
import { openEmbeddedRuntime } from '../../runtime/embedded-runtime.ts'
import { setToRest } from './rest.ts'

const MINE = 'mine' as RunId
const OTHER = 'other' as RunId
const AGENT = 'other/agent' as AgentId
const DOWN: EffectHandler = {
  policy: { attemptsMax: 1 },
  serviceOf: () => 'model',
  run: async () => ({
    ok: false,
    error: { code: 'network', message: 'it is down', retry: 'later' },
  }),
}

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-rest-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Two runs, in one of which an agent waits for a model that does not answer. */
async function leaveRuns(): Promise<void> {
  const journal = await openSqliteJournal(folder)
  const runtime = await openEmbeddedRuntime({
    journal,
    blobs: openBlobFiles(join(folder, 'blobs')),
    roles: [obedient()],
    handlers: { think: DOWN },
    services: { model: { probe: async () => false } },
    clock: systemClock,
    newId: () => crypto.randomUUID(),
    random: Math.random,
  })
  for (const run of [MINE, OTHER]) await runtime.createRun(run, {})
  await runtime.createAgent({ id: AGENT, run: OTHER, role: 'obedient' })
  const deliver = (id: string, payload: typeof THINK) =>
    runtime.deliver({ id: id as EventId, agent: AGENT, type: 'do', payload })
  await deliver('e1', { move: { event: 'story_assigned', to: 'SETUP' } })
  await deliver('e2', THINK)
  const isSuspended = async () => (await journal.readAgents(OTHER))[0]?.state === 'SUSPEND'
  await vi.waitUntil(isSuspended, { timeout: 20_000 })
  await runtime.close()
  await journal.close()
}

test('a run is set to rest, and who waits for a service in another one waits on', async () => {
  await leaveRuns()
  await setToRest(folder, MINE, 'pause')
  const journal = await openSqliteJournal(folder)
  const statuses = (await journal.readRuns()).map(({ id, status }) => [id, status])
  const [loaded] = await journal.loadAgents([AGENT])
  await journal.close()
  expect(Object.fromEntries(statuses)).toEqual({ mine: 'paused', other: 'running' })
  expect(loaded).toMatchObject({ record: { state: 'SUSPEND' }, inbox: [] })
})

test('where no runtime can be opened, the state folder is free for the next', async () => {
  await leaveRuns()
  const database = await openDatabase(join(folder, 'journal.db'))
  database.exec("UPDATE runs SET config = '{}x'")
  database.close()
  await expect(setToRest(folder, MINE, 'pause')).rejects.toThrow('damaged')
  const journal = await openSqliteJournal(folder)
  await journal.close()
})

const TASK = 'task' as RunId
const COORDINATOR = coordinatorOf(TASK)

/** A task that was begun when its process ended, and which nobody has taken yet. */
async function leaveTask(told: boolean): Promise<void> {
  const journal = await openSqliteJournal(folder)
  const runtime = await openEmbeddedRuntime({
    journal,
    blobs: openBlobFiles(join(folder, 'blobs')),
    roles: [coordinator('2')],
    handlers: {},
    clock: systemClock,
    newId: () => crypto.randomUUID(),
    random: Math.random,
  })
  await runtime.createRun(TASK, {})
  await runtime.pause(TASK)
  const settings = { run: TASK, target: 'main' }
  const payload = { text: 'Do it.', mode: 'proposal', isConfirmed: false, settings }
  const brought = { id: 'e1' as EventId, type: TASK_BROUGHT, payload: payload as unknown as Json }
  const role = 'coordinator@2'
  await runtime.createAgent({ id: COORDINATOR, run: TASK, role, ...(told && { told: brought }) })
  await runtime.close()
  await journal.close()
}

test.each([
  ['one that nobody has taken yet is given up', true, 'canceled', 'running'],
  ['one of which nobody was told rests', false, undefined, 'stopped'],
])(
  'of tasks, %s',
  async (_, told, outcome, status) => {
    await leaveTask(told)
    await setToRest(folder, TASK, 'stop')
    const journal = await openSqliteJournal(folder)
    const [run] = await journal.readRuns()
    const [agent] = await journal.readAgents(TASK)
    await journal.close()
    expect([agent?.data.outcome, run?.status]).toEqual([outcome, status])
  },
  20_000,
)
