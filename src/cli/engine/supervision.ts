import { setTimeout as sleep } from 'node:timers/promises'
import { CHANNEL_CLOSED } from '../../agents/team/protocol.ts'
import type { AgentId, EventId, RunId } from '../../agents/values.ts'
import type { AgentRecord } from '../../runtime/records.ts'
import { readView } from '../view/read-view.ts'
import { journalSource } from '../view/run-source.ts'
import { cutOff, rescueOf } from './rescue.ts'
import { RunsUnderWay } from './runs-under-way.ts'
import type { Team } from './team.ts'

/** What a supervisor works with. */
type Ground = Pick<Team, 'runtime' | 'journal'>

const LOOK_MS = 1_000
/** As often as that within the window; then it stays halted, and the board says so. */
const REVIVALS_MAX = 5
const WINDOW_MS = 600_000
const RESTING: readonly string[] = ['paused', 'stopped']
const OVER: readonly string[] = ['done', 'failed']

/** Looks after halted agents until it is told to end. What fails is tried at the next look. */
export async function supervise(ground: Ground, signal: AbortSignal): Promise<void> {
  const runs = new RunsUnderWay(journalSource(ground.journal))
  const revivals = new Map<AgentId, readonly number[]>()
  const look = async () => {
    for (const agent of await haltedAgents(ground, runs)) {
      const nowMs = Date.now()
      const recent = (revivals.get(agent.id) ?? []).filter((ms) => ms > nowMs - WINDOW_MS)
      if (recent.length >= REVIVALS_MAX) continue
      revivals.set(agent.id, [...recent, nowMs])
      await revive(ground, agent)
    }
  }
  while (!signal.aborted) {
    await look().catch(() => {})
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

async function haltedAgents(
  { journal }: Ground,
  runs: RunsUnderWay,
): Promise<readonly AgentRecord[]> {
  const concerned = (await runs.read()).filter(
    ({ status, agents }) => !RESTING.includes(status) && agents.some(({ isHalted }) => isHalted),
  )
  const agents = await Promise.all(concerned.map(({ run }) => journal.readAgents(run as RunId)))
  return agents.flat().filter(({ halted }) => halted)
}

/** What is said has an id of this generation, so that it is said once whatever crashes. */
async function revive({ runtime }: Ground, agent: AgentRecord): Promise<void> {
  const rescue = rescueOf(agent)
  if (rescue === undefined) return
  const id = `${agent.id}#${agent.generation}:halted` as EventId
  for (const told of rescue) await runtime.deliver({ ...told, id })
  await runtime.revive(agent.id)
}

/**
 * The process before this one ended without a word. Whoever waits for work is told, and takes the
 * way of its machine from there; whoever is at work goes on, since nothing of it was lost.
 */
export async function tellOfAbnormalEnd({ runtime, journal }: Ground): Promise<void> {
  const source = journalSource(journal)
  for (const { id: run } of await journal.readRuns()) {
    if (OVER.includes((await readView(source, run)).status)) continue
    const waiting = (await journal.readAgents(run)).filter(isWaiting)
    for (const { id: agent, seq } of waiting) {
      const id = `${agent}:${CHANNEL_CLOSED}:${seq}` as EventId
      await runtime.deliver({ ...cutOff(agent), id })
    }
  }
}

const WAITING = ['WAITING', 'MONITORING']

function isWaiting({ role, state, halted }: AgentRecord): boolean {
  const isWorker = role === 'pm' || role.startsWith('architect@') || role.startsWith('coder@')
  return isWorker && !halted && WAITING.includes(state ?? '')
}
