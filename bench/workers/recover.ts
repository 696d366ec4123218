/**
 * `node recover.mjs fill <folder> <rows> <open agents>` makes a journal of that many rows;
 * `start <folder>` goes on with it and says how long that took; `check <folder>` says how long
 * SQLite's own check of the file takes.
 */
import { join } from 'node:path'
import type { AgentId, EventId } from '../../src/agents/values.ts'
import { openDatabase } from '../../src/journal/sqlite/driver.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { agentId, createWalkers, openWalkers } from '../subjects/slipway.ts'

const ROWS_PER_AGENT = 100
/** The events that take a walker from TESTING to its end. */
const LAST_EVENTS = 3
const AGENTS_AT_A_TIME = 50

/** What a start took, from before the journal was opened. */
export interface Start {
  readonly journalMs: number
  readonly runtimeMs: number
  readonly answeredMs: number
}

const [task = '', folder = '', ...numbers] = process.argv.slice(2)
const [rows = 0, openAgents = 0] = numbers.map(Number)

/** Through the runtime, so that everything is stored as the product stores it. */
async function fill(): Promise<void> {
  const journal = await openSqliteJournal(folder)
  const runtime = await openWalkers(folder, journal)
  const waiting = await createWalkers(runtime, 0, openAgents)
  await deliverToAll(runtime, waiting, 1, () => 'ask')
  // An agent is born with a row, and those that wait have one more.
  const finished = Math.round((rows - 2 * openAgents) / ROWS_PER_AGENT)
  for (let first = 0; first < finished; first += AGENTS_AT_A_TIME) {
    const count = Math.min(AGENTS_AT_A_TIME, finished - first)
    const agents = await createWalkers(runtime, openAgents + first, count)
    const events = ROWS_PER_AGENT - 1
    const type = (n: number) => (n < events - LAST_EVENTS ? 'advance' : 'conclude')
    await deliverToAll(runtime, agents, events, type)
  }
  await runtime.idle()
  await runtime.close()
  await journal.close()
}

async function deliverToAll(
  runtime: Runtime,
  agents: readonly AgentId[],
  events: number,
  type: (n: number) => string,
): Promise<void> {
  const deliveries = Array.from({ length: events }, (_, n) =>
    agents.map((agent) =>
      runtime.deliver({ id: `${agent}-${n}` as EventId, agent, type: type(n), payload: null }),
    ),
  )
  await Promise.all(deliveries.flat())
}

async function start(): Promise<Start> {
  const startedMs = performance.now()
  const journal = await openSqliteJournal(folder)
  const journalMs = performance.now() - startedMs
  const runtime = await openWalkers(folder, journal)
  const runtimeMs = performance.now() - startedMs
  const id = crypto.randomUUID() as string as EventId
  const reply = await runtime.deliver({ id, agent: agentId(0), type: 'advance', payload: null })
  const answeredMs = performance.now() - startedMs
  if (reply !== 'accepted') throw new Error(`the first event was answered with ${reply}`)
  await runtime.close()
  await journal.close()
  return { journalMs, runtimeMs, answeredMs }
}

async function check(): Promise<number> {
  const database = await openDatabase(join(folder, 'journal.db'))
  const startedMs = performance.now()
  const problem = database.prepare('PRAGMA quick_check(1)').get()?.quick_check
  const elapsedMs = performance.now() - startedMs
  if (problem !== 'ok') throw new Error(String(problem))
  database.close()
  return elapsedMs
}

async function count(): Promise<number> {
  const database = await openDatabase(join(folder, 'journal.db'))
  const { rows: stored } = database.prepare('SELECT count(*) AS rows FROM journal').get() ?? {}
  database.close()
  return Number(stored)
}

const tasks: Readonly<Record<string, () => Promise<unknown>>> = { fill, start, check, count }
process.stdout.write(JSON.stringify((await tasks[task]?.()) ?? null))
