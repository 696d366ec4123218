import type { AgentId, EffectId, EventId, RunId } from '../../agents/values.ts'
import type {
  AgentRecord,
  Closure,
  EffectPhase,
  EffectRecord,
  InboxEvent,
  JournalRow,
  RunRecord,
  RunStatus,
  StoredRow,
  TimerRecord,
} from '../../runtime/records.ts'
import { Checksum } from './checksum.ts'
import { damaged, missing, verify } from './damage.ts'
import type { SqlValue } from './driver.ts'
import { toStep } from './steps.ts'

type Row = Record<string, SqlValue>

/** What of an agent is stored as one JSON value. */
type AgentRest = Omit<
  AgentRecord,
  'key' | 'id' | 'run' | 'runKey' | 'role' | 'machine' | 'state' | 'seq'
>

/** What an agent mostly is; only what differs is stored. */
const USUAL: AgentRest = {
  origin: null,
  suspendedFrom: null,
  data: {},
  generation: 1,
  bornSeq: 1,
  halted: false,
  timers: {},
  recycling: null,
  restartsMs: [],
}

/** What is not in columns of its own, as JSON. */
export function restOf(agent: AgentRecord): string {
  const rest: { -readonly [Key in keyof AgentRest]?: AgentRest[Key] } = {}
  if (agent.origin !== null) rest.origin = agent.origin
  if (agent.suspendedFrom !== null) rest.suspendedFrom = agent.suspendedFrom
  if (!isEmpty(agent.data)) rest.data = agent.data
  if (agent.generation !== 1) rest.generation = agent.generation
  if (agent.bornSeq !== 1) rest.bornSeq = agent.bornSeq
  if (agent.halted) rest.halted = true
  if (!isEmpty(agent.timers)) rest.timers = agent.timers
  if (agent.recycling !== null) rest.recycling = agent.recycling
  if (agent.restartsMs.length > 0) rest.restartsMs = agent.restartsMs
  return jsonOf(rest)
}

/** JSON of an object. Most that are stored are empty, and finding that out is cheaper. */
function jsonOf(object: object): string {
  return isEmpty(object) ? '{}' : JSON.stringify(object)
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return true
}

/** The checksum of a run's columns. */
export function runChecksum({ key, id, status, createdMs }: RunRecord, config: string): number {
  return new Checksum().number(key).text(id).text(status).number(createdMs).text(config).value
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
  const identity = new Checksum().number(key).text(id).number(runKey).text(role).text(machine)
  return identity.text(state).number(seq).text(rest).value
}

/** An agent that has open work. */
export function toOpenAgent(row: Row): AgentRecord {
  if (row.key === null) throw missing(`agent ${row.named}`, 'open work')
  return toAgent(row)
}

export function toAgent(row: Row): AgentRecord {
  if (row.run_id === null) throw missing(`run ${row.run}`, `agent ${row.id}`)
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
    ...USUAL,
    ...parse<Partial<AgentRest>>(`agent ${row.id}`, rest),
  }
  verify(`agent ${row.id}`, row.checksum, agentChecksum(agent, rest))
  return agent
}

/** The checksum of a waiting event's columns. */
export function mailChecksum(event: InboxEvent, payload: string): number {
  const { order, agentKey, id, type, atMs, urgent, tries } = event
  const content = new Checksum().number(order).number(agentKey).text(id).text(type).text(payload)
  return content
    .number(atMs)
    .number(urgent ? 1 : 0)
    .number(tries).value
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

/** By their numbers in the column. */
const PHASES: readonly EffectPhase[] = ['working', 'waiting', 'held']

export function phaseNumber(phase: EffectPhase): number {
  return PHASES.indexOf(phase)
}

function toPhase({ id, waiting }: Row): EffectPhase {
  const phase = PHASES[Number(waiting)]
  if (phase === undefined) throw damaged(`effect ${id}`)
  return phase
}

/** The checksum of an open effect's columns; how far it is may change without it. */
export function effectChecksum(effect: EffectRecord, input: string): number {
  const { id, agent, kind, askedMs } = effect
  return new Checksum().text(id).number(agent).text(kind).text(input).number(askedMs).value
}

export function toEffect(row: Row): EffectRecord {
  if (row.agent_id === null) throw missing(`agent ${row.agent}`, `effect ${row.id}`)
  if (row.run_id === null) throw missing('the run of its agent', `effect ${row.id}`)
  const input = String(row.input)
  const effect: EffectRecord = {
    id: row.id as EffectId,
    agent: Number(row.agent),
    agentId: row.agent_id as AgentId,
    run: row.run_id as RunId,
    kind: String(row.kind),
    input: parse(`effect ${row.id}`, input),
    askedMs: Number(row.asked_ms),
    phase: toPhase(row),
  }
  verify(`effect ${row.id}`, row.checksum, effectChecksum(effect, input))
  return effect
}

/** The checksum of a timer's columns. */
export function timerChecksum({ agent, name, epoch, dueMs }: TimerRecord): number {
  return new Checksum().number(agent).text(name).number(epoch).number(dueMs).value
}

export function toTimer(row: Row): TimerRecord {
  if (row.agent_id === null) throw missing(`agent ${row.agent}`, `timer ${row.name}`)
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

export function closureChecksum({ service, untilMs }: Closure): number {
  return new Checksum().text(service).number(untilMs).value
}

export function toClosure(row: Row): Closure {
  const closure: Closure = { service: String(row.service), untilMs: Number(row.until_ms) }
  verify(`the time that ${row.service} named`, row.checksum, closureChecksum(closure))
  return closure
}

/** The columns of a journal row that are written; its place is given by SQLite. */
export const ROW_COLUMNS = 8

/** Puts a row's columns into the values of a statement, from a place on. */
export function fillRow(values: SqlValue[], from: number, row: JournalRow, step: number): void {
  const body = jsonOf(row.body)
  values[from] = row.run
  values[from + 1] = row.agent
  values[from + 2] = row.agentSeq
  values[from + 3] = row.atMs
  values[from + 4] = step
  values[from + 5] = row.eventId
  values[from + 6] = body
  values[from + 7] = rowChecksum(row, step, body)
}

/** The checksum of a row's columns. */
function rowChecksum(
  row: Pick<JournalRow, 'run' | 'agent' | 'agentSeq' | 'atMs' | 'eventId'>,
  step: number,
  body: string,
): number {
  const { run, agent, agentSeq, atMs, eventId } = row
  const place = new Checksum().number(run).number(agent).number(agentSeq).number(atMs)
  return place.number(step).text(eventId).text(body).value
}

export function toStoredRow(row: Row): StoredRow {
  if (row.agent_id === null) throw missing(`agent ${row.agent}`, `row ${row.seq}`)
  if (row.step_checksum === null) throw missing(`step ${row.step}`, `row ${row.seq}`)
  const body = String(row.body)
  const stored: StoredRow = {
    seq: Number(row.seq),
    run: Number(row.run),
    agent: Number(row.agent),
    agentId: row.agent_id as AgentId,
    agentSeq: Number(row.agent_seq),
    atMs: Number(row.at_ms),
    eventId: row.event_id as EventId,
    ...toStep(row),
    body: parse(`row ${row.seq}`, body),
  }
  verify(`row ${row.seq}`, row.checksum, rowChecksum(stored, Number(row.step), body))
  return stored
}

function parse<T>(what: string, text: string): T {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw damaged(what, error)
  }
}
