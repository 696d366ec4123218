import type { AgentId, EffectId, EventId, RunId } from '../../src/agents/values.ts'
import { coderF } from '../../src/machines/tables/coder-f.ts'
import { applyRow, unborn } from '../../src/runtime/fold.ts'
import type { Batch } from '../../src/runtime/journal.ts'
import type {
  AgentRecord,
  EffectRecord,
  InboxEvent,
  JournalRow,
  RunRecord,
} from '../../src/runtime/records.ts'

export const RUN = 'run-1' as RunId

const EMPTY: Omit<Batch, 'id'> = {
  rows: [],
  runs: [],
  agents: [],
  inboxAdded: [],
  inboxRemoved: [],
  effectsAdded: [],
  effectsRemoved: [],
  effectPhases: [],
  timersSet: [],
  timersRemoved: [],
  closures: [],
  accepted: [],
}

let batches = 0

/** A batch of just what is given. */
export function batchOf(parts: Partial<Batch>): Batch {
  batches += 1
  return { ...EMPTY, id: `batch-${batches}`, ...parts }
}

export function runOf(key = 1): RunRecord {
  return { key, id: RUN, status: 'running', createdMs: 1_000, config: { coders: 2 } }
}

export function agentOf(key: number, id = `agent-${key}`): AgentRecord {
  const machine = coderF.name
  return unborn({ key, id: id as AgentId, run: RUN, runKey: 1, role: 'coder', machine })
}

/** A row for an agent, and the agent after it. */
export function rowOf(agent: AgentRecord, change: Partial<JournalRow> = {}) {
  const agentSeq = agent.seq + 1
  const row: JournalRow = {
    run: 1,
    agent: agent.key,
    agentId: agent.id,
    agentSeq,
    atMs: 5_000 + agentSeq,
    kind: 'stayed',
    eventId: `event-${agent.id}-${agentSeq}` as EventId,
    eventType: 'note',
    from: agent.state,
    to: agent.state,
    move: null,
    body: { payload: { text: 'ünï\n日本' }, set: { count: agentSeq } },
    ...change,
  }
  return { row, agent: applyRow(agent, row) }
}

export function mailOf(agent: AgentRecord, order: number, change: Partial<InboxEvent> = {}) {
  return {
    id: `mail-${order}` as EventId,
    agent: agent.id,
    agentKey: agent.key,
    type: 'note',
    payload: { order },
    atMs: 6_000,
    urgent: false,
    tries: 0,
    order,
    ...change,
  }
}

export function effectOf(agent: AgentRecord, id: string): EffectRecord {
  return {
    id: id as EffectId,
    agent: agent.key,
    agentId: agent.id,
    run: RUN,
    kind: 'think',
    input: { prompt: 'x' },
    askedMs: 7_000,
    phase: 'working',
  }
}
