import { crc32 } from 'node:zlib'
import type { AgentId, EffectId, EventId, RunId } from '../../agents/values.ts'
import { JournalError } from '../../runtime/journal.ts'
import type {
  AgentRecord,
  EffectRecord,
  InboxEvent,
  RowKind,
  RunRecord,
  RunStatus,
  StoredRow,
  TimerRecord,
} from '../../runtime/records.ts'
import type { SqlValue } from './driver.ts'

type Row = Record<string, SqlValue>

/** What of an agent is stored as one JSON value. */
type AgentRest = Omit<
  AgentRecord,
  'key' | 'id' | 'run' | 'runKey' | 'role' | 'machine' | 'state' | 'seq'
>

/** A checksum over columns: SQLite notices a damaged page, not a damaged value on it. */
export function checksum(...columns: readonly (string | number | null)[]): number {
  return crc32(columns.join('\0'))
}

export function restOf(agent: AgentRecord): string {
  const { origin, suspendedFrom, data, generation, bornSeq, halted, timers } = agent
  const { recycling, restartsMs } = agent
  const rest: AgentRest = {
    origin,
    suspendedFrom,
    data,
    generation,
    bornSeq,
    halted,
    timers,
    recycling,
    restartsMs,
  }
  return JSON.stringify(rest)
}

export function toRun(row: Row): RunRecord {
  return {
    key: Number(row.key),
    id: row.id as RunId,
    status: row.status as RunStatus,
    createdMs: Number(row.created_ms),
    config: JSON.parse(String(row.config)),
  }
}

export function toAgent(row: Row): AgentRecord {
  const state = row.state as string | null
  const seq = Number(row.seq)
  const rest = String(row.rest)
  verify(`agent ${row.id}`, row.checksum, checksum(state, seq, rest))
  return {
    key: Number(row.key),
    id: row.id as AgentId,
    run: row.run_id as RunId,
    runKey: Number(row.run),
    role: String(row.role),
    machine: String(row.machine),
    state,
    seq,
    ...(JSON.parse(rest) as AgentRest),
  }
}

export function toInboxEvent(row: Row): InboxEvent {
  return {
    id: row.id as EventId,
    agent: row.agent_id as AgentId,
    type: String(row.type),
    payload: JSON.parse(String(row.payload)),
    atMs: Number(row.at_ms),
    urgent: row.urgent === 1,
    tries: Number(row.tries),
    order: Number(row.place),
  }
}

export function toEffect(row: Row): EffectRecord {
  return {
    id: row.id as EffectId,
    agent: Number(row.agent),
    agentId: row.agent_id as AgentId,
    run: row.run_id as RunId,
    kind: String(row.kind),
    input: JSON.parse(String(row.input)),
    askedMs: Number(row.asked_ms),
    waiting: row.waiting === 1,
  }
}

export function toTimer(row: Row): TimerRecord {
  return {
    agent: Number(row.agent),
    agentId: row.agent_id as AgentId,
    name: String(row.name),
    epoch: Number(row.epoch),
    dueMs: Number(row.due_ms),
  }
}

export function toStoredRow(row: Row): StoredRow {
  const eventId = row.event_id as EventId
  const from = row.from_state as string | null
  const to = row.to_state as string | null
  const agentSeq = Number(row.agent_seq)
  const body = String(row.body)
  verify(`row ${row.seq}`, row.checksum, checksum(agentSeq, eventId, from, to, body))
  return {
    seq: Number(row.seq),
    run: Number(row.run),
    agent: Number(row.agent),
    agentId: row.agent_id as AgentId,
    agentSeq,
    atMs: Number(row.at_ms),
    kind: row.kind as RowKind,
    eventId,
    eventType: String(row.event_type),
    from,
    to,
    move: row.move as string | null,
    body: JSON.parse(body),
  }
}

function verify(what: string, stored: SqlValue | undefined, computed: number): void {
  if (Number(stored) === computed) return
  throw new JournalError(
    'damaged',
    `${what} is damaged: its content does not match its checksum. Keep a copy of the state folder, and restore it from a backup.`,
  )
}
