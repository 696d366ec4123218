import type { AgentId, EffectId, EventId, RunId } from '../../agents/values.ts'
import { JournalError } from '../../runtime/journal.ts'
import type {
  AgentRecord,
  EffectRecord,
  InboxEvent,
  JournalRow,
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

/** FNV-1a of 32 bits: for texts as short as rows four times as fast as a call of zlib's crc32. */
function checksum(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
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

/** The checksum of a run's columns. */
export function runChecksum({ key, id, status, createdMs }: RunRecord, config: string): number {
  return checksum(`${key}\0${id}\0${status}\0${createdMs}\0${config}`)
}

export function toRun(row: Row): RunRecord {
  const config = String(row.config)
  const run: RunRecord = {
    key: Number(row.key),
    id: row.id as RunId,
    status: row.status as RunStatus,
    createdMs: Number(row.created_ms),
    config: parse(`run ${row.id}`, config),
  }
  verify(`run ${row.id}`, row.checksum, runChecksum(run, config))
  return run
}

/** The checksum of an agent's columns: SQLite notices a damaged page, not a damaged value on it. */
export function agentChecksum(agent: AgentRecord, rest: string): number {
  const { key, id, runKey, role, machine, state, seq } = agent
  return checksum(`${key}\0${id}\0${runKey}\0${role}\0${machine}\0${state}\0${seq}\0${rest}`)
}

export function toAgent(row: Row): AgentRecord {
  const rest = String(row.rest)
  const agent: AgentRecord = {
    key: Number(row.key),
    id: row.id as AgentId,
    run: row.run_id as RunId,
    runKey: Number(row.run),
    role: String(row.role),
    machine: String(row.machine),
    state: row.state as string | null,
    seq: Number(row.seq),
    ...parse<AgentRest>(`agent ${row.id}`, rest),
  }
  verify(`agent ${row.id}`, row.checksum, agentChecksum(agent, rest))
  return agent
}

/** The checksum of a waiting event's columns. */
export function mailChecksum(event: InboxEvent, payload: string): number {
  const { order, agentKey, id, type, atMs, urgent, tries } = event
  return checksum(`${order}\0${agentKey}\0${id}\0${type}\0${payload}\0${atMs}\0${urgent}\0${tries}`)
}

export function toInboxEvent(row: Row): InboxEvent {
  const payload = String(row.payload)
  const event: InboxEvent = {
    id: row.id as EventId,
    agent: row.agent_id as AgentId,
    agentKey: Number(row.agent),
    type: String(row.type),
    payload: parse(`event ${row.id}`, payload),
    atMs: Number(row.at_ms),
    urgent: row.urgent === 1,
    tries: Number(row.tries),
    order: Number(row.place),
  }
  verify(`event ${row.id}`, row.checksum, mailChecksum(event, payload))
  return event
}

/** The checksum of an open effect's columns; whether it waits may change without it. */
export function effectChecksum(effect: EffectRecord, input: string): number {
  const { id, agent, kind, askedMs } = effect
  return checksum(`${id}\0${agent}\0${kind}\0${input}\0${askedMs}`)
}

export function toEffect(row: Row): EffectRecord {
  const input = String(row.input)
  const effect: EffectRecord = {
    id: row.id as EffectId,
    agent: Number(row.agent),
    agentId: row.agent_id as AgentId,
    run: row.run_id as RunId,
    kind: String(row.kind),
    input: parse(`effect ${row.id}`, input),
    askedMs: Number(row.asked_ms),
    waiting: row.waiting === 1,
  }
  verify(`effect ${row.id}`, row.checksum, effectChecksum(effect, input))
  return effect
}

/** The checksum of a timer's columns. */
export function timerChecksum({ agent, name, epoch, dueMs }: TimerRecord): number {
  return checksum(`${agent}\0${name}\0${epoch}\0${dueMs}`)
}

export function toTimer(row: Row): TimerRecord {
  const timer: TimerRecord = {
    agent: Number(row.agent),
    agentId: row.agent_id as AgentId,
    name: String(row.name),
    epoch: Number(row.epoch),
    dueMs: Number(row.due_ms),
  }
  verify(`timer ${row.name}`, row.checksum, timerChecksum(timer))
  return timer
}

/** The checksum of a row's columns. */
export function rowChecksum(row: JournalRow, body: string): number {
  const { run, agent, agentSeq, atMs, kind, eventId, eventType, from, to, move } = row
  const place = `${run}\0${agent}\0${agentSeq}\0${atMs}\0${kind}`
  return checksum(`${place}\0${eventId}\0${eventType}\0${from}\0${to}\0${move}\0${body}`)
}

export function toStoredRow(row: Row): StoredRow {
  const body = String(row.body)
  const stored: StoredRow = {
    seq: Number(row.seq),
    run: Number(row.run),
    agent: Number(row.agent),
    agentId: row.agent_id as AgentId,
    agentSeq: Number(row.agent_seq),
    atMs: Number(row.at_ms),
    kind: row.kind as RowKind,
    eventId: row.event_id as EventId,
    eventType: String(row.event_type),
    from: row.from_state as string | null,
    to: row.to_state as string | null,
    move: row.move as string | null,
    body: parse(`row ${row.seq}`, body),
  }
  verify(`row ${row.seq}`, row.checksum, rowChecksum(stored, body))
  return stored
}

function parse<T>(what: string, text: string): T {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw damaged(what, error)
  }
}

function verify(what: string, stored: SqlValue | undefined, computed: number): void {
  if (Number(stored) !== computed) throw damaged(what)
}

function damaged(what: string, cause?: unknown): JournalError {
  const message = `${what} is damaged: its content does not match its checksum. Keep a copy of the state folder, and restore it from a backup.`
  return new JournalError('damaged', message, { cause })
}
