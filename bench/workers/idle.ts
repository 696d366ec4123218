/** `node --expose-gc idle.mjs <folder> <agents> <idle ms>`: what agents cost while they wait. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentId, EventId } from '../../src/agents/values.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { agentId, createWalkers, openWalkers } from '../subjects/slipway.ts'

const AGENTS_AT_A_TIME = 100
const WAKES = 50

/** What the waiting agents cost. */
export interface IdleCost {
  /** What the process grew by since it was started, with all that it once needed for its work. */
  readonly growthBytes: number
  /** What it grew by after it had done the same work for others, who are gone. */
  readonly rssBytes: number
  readonly heapBytes: number
  readonly cpuShare: number
  /** Of each agent that was woken, from the delivery to its acknowledgement. */
  readonly wakesMs: readonly number[]
}

const [folder = '', agents = '0', idleMs = '0'] = process.argv.slice(2)

async function settle(): Promise<NodeJS.MemoryUsage> {
  // What waits for finalizers goes with the second collection.
  for (let i = 0; i < 3; i += 1) {
    globalThis.gc?.()
    await sleep(50)
  }
  return process.memoryUsage()
}

function tell(runtime: Runtime, agent: AgentId, type: string) {
  return runtime.deliver({ id: `${agent}-${type}` as EventId, agent, type, payload: null })
}

async function createWaiting(runtime: Runtime, count: number): Promise<void> {
  for (let first = 0; first < count; first += AGENTS_AT_A_TIME) {
    const ids = await createWalkers(runtime, first, Math.min(AGENTS_AT_A_TIME, count - first))
    await Promise.all(ids.map((id) => tell(runtime, id, 'wait')))
  }
  await runtime.idle()
}

async function measureIdling(): Promise<number> {
  const before = process.cpuUsage()
  const startedMs = performance.now()
  await sleep(Number(idleMs))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / (performance.now() - startedMs)
}

/** One after another, spread over all agents: most of them are not in memory. */
async function wakeSome(runtime: Runtime, count: number): Promise<number[]> {
  const wakesMs: number[] = []
  for (let i = 0; i < WAKES; i += 1) {
    const startedMs = performance.now()
    await tell(runtime, agentId(Math.floor((i * count) / WAKES)), 'advance')
    wakesMs.push(performance.now() - startedMs)
  }
  return wakesMs
}

/**
 * Makes as many agents elsewhere and forgets them. Node keeps the room that the work itself took
 * (some 30 MB, as much for 40,000 agents as for 10,000), and that is not what an agent costs.
 */
async function warmUp(count: number): Promise<void> {
  const elsewhere = join(folder, 'warm-up')
  const journal = await openSqliteJournal(elsewhere)
  const runtime = await openWalkers(elsewhere, journal)
  await createWaiting(runtime, count)
  await runtime.close()
  await journal.close()
}

const count = Number(agents)
const fresh = await settle()
await warmUp(count)
const journal = await openSqliteJournal(folder)
const runtime = await openWalkers(folder, journal)
const before = await settle()
await createWaiting(runtime, count)
const after = await settle()
const cpuShare = await measureIdling()
const wakesMs = await wakeSome(runtime, count)
await runtime.close()
await journal.close()
const cost: IdleCost = {
  growthBytes: after.rss - fresh.rss,
  rssBytes: after.rss - before.rss,
  heapBytes: after.heapUsed - before.heapUsed,
  cpuShare,
  wakesMs,
}
process.stdout.write(JSON.stringify(cost))
