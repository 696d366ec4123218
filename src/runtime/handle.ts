import {
  type Decision,
  EFFECT_FINISHED,
  type EffectRequest,
  effectIdOf,
  type Message,
  OUTAGE,
  type Outage,
  type Role,
  TIMER_FIRED,
} from '../agents/role.ts'
import type { EffectId, EventId } from '../agents/values.ts'
import { step } from '../machines/step.ts'
import { FAILURE, SUSPEND } from '../machines/suspend.ts'
import { birthState } from '../machines/table.ts'
import { checkDecision } from './decision.ts'
import { applyRow } from './fold.ts'
import type { AgentRecord, Birth, InboxEvent, JournalRow, RowBody, RowKind } from './records.ts'

/** What the runtime bounds. */
export interface Limits {
  /** How often the handling of one event may throw before the event is set aside. */
  readonly eventTriesMax: number
  /** How many generations may be born after failures within the window. */
  readonly restartsMax: number
  readonly restartWindowMs: number
  /** How many events one commit takes in; more wait for the next. */
  readonly rowsPerTurnMax: number
  /** How many effects are carried out at once, over all services; others wait in turns by agent. */
  readonly effectsRunningMax: number
  /** How many agents without mail are kept in memory. */
  readonly residentsMax: number
  /** The longest payload from outside, as JSON; what is larger belongs into a blob. */
  readonly payloadBytesMax: number
}

export const DEFAULT_LIMITS: Limits = {
  eventTriesMax: 3,
  restartsMax: 5,
  restartWindowMs: 600_000,
  rowsPerTurnMax: 1_000,
  effectsRunningMax: 64,
  residentsMax: 512,
  payloadBytesMax: 1_048_576,
}

/** What one event did to its agent. Nothing of it has happened yet: it is all for one commit. */
export interface Handled {
  readonly agent: AgentRecord
  /** `null` when handling threw and the event is to be tried again. */
  readonly row: JournalRow | null
  /** `null` when nothing is to be done but to store it. */
  readonly asked: Asked | null
}

/** What is to be done besides storing a row. */
export interface Asked {
  readonly messages: readonly Message[]
  readonly effects: readonly (EffectRequest & { readonly id: EffectId })[]
  /** Effects whose outcome is no longer wanted. */
  readonly cancelled: readonly EffectId[] | 'all'
  /** Effects that waited for a service may run again. */
  readonly resumesEffects: boolean
}

/** The timer that ends a suspension. Its name cannot be set by a behaviour. */
export const SUSPENSION_TIMER = '$suspension'

/** The event types with which the runtime itself speaks to an agent. They are urgent. */
export const SERVICE_UNAVAILABLE = 'service_unavailable'
export const SERVICE_RESTORED = 'service_restored'
export const REVIVED = 'revived'

/**
 * Handles one event: looks the move up, and says what is to be stored and done. Pure. What throws
 * on the way is tried again, and set aside when it keeps throwing.
 */
export function handleEvent(
  role: Role,
  agent: AgentRecord,
  event: InboxEvent,
  limits: Limits,
): Handled {
  try {
    return dispatch(role, agent, event, limits)
  } catch (error) {
    if (event.tries + 1 < limits.eventTriesMax) return { agent, row: null, asked: null }
    const over = event.type === TIMER_FIRED ? timerOver(agent, event) : {}
    const body = { error: String(error), payload: event.payload, ...over }
    return record(agent, event, 'set_aside', body)
  }
}

function dispatch(role: Role, agent: AgentRecord, event: InboxEvent, limits: Limits): Handled {
  switch (event.type) {
    case SERVICE_UNAVAILABLE:
      return suspend(role, agent, event)
    case SERVICE_RESTORED:
      return restore(role, agent, event)
    case REVIVED:
      return bear(role, agent, event, [])
    case TIMER_FIRED:
      return fireTimer(role, agent, event)
    case EFFECT_FINISHED:
      if (agent.recycling !== null && finishedId(event) === agent.recycling) {
        return recycle(role, agent, event, limits)
      }
      if (askedSeq(event) < agent.bornSeq) return record(agent, event, 'ignored', {})
      return behave(role, agent, event, NOTHING_MORE)
    default:
      return behave(role, agent, event, NOTHING_MORE)
  }
}

/** Gives birth to an agent's first generation. */
export function giveBirth(role: Role, unborn: AgentRecord, atMs: number): Handled {
  const row = birthRow(role, unborn, atMs)
  return withGreeting(role, applyRow(unborn, row), row)
}

/** A generation that is born, with what it says. */
function withGreeting(role: Role, agent: AgentRecord, row: JournalRow): Handled {
  const messages = role.greet?.(agent) ?? []
  checkDecision({ send: messages })
  return { agent, row, asked: { ...NOTHING, messages, cancelled: 'all' } }
}

function birthRow(role: Role, agent: AgentRecord, atMs: number): JournalRow {
  const birth: Birth = { generation: 1, data: role.initialData, restartsMs: [] }
  return {
    run: agent.runKey,
    agent: agent.key,
    agentId: agent.id,
    agentSeq: 1,
    atMs,
    kind: 'born',
    eventId: `${agent.id}:born` as EventId,
    eventType: 'born',
    from: null,
    to: birthState(role.machine),
    move: null,
    body: { birth },
  }
}

/** What rows of most events say beside the decision; one for all, since every event passes here. */
const NOTHING_MORE: RowBody = {}

/** Asks the behaviour, and checks its answer against the table. */
function behave(role: Role, agent: AgentRecord, event: InboxEvent, extra: RowBody): Handled {
  const decision = role.handle(agent, event)
  checkDecision(decision)
  const { move } = decision
  if (move !== undefined && legalTarget(role, agent, move.event) !== move.to) {
    const error = `${agent.machine} has no row ${agent.state} ${move.event} ${move.to}`
    return record(agent, event, 'halted', { error, payload: event.payload, ...extra })
  }
  return carryOut(role, agent, event, decision, extra)
}

function legalTarget(role: Role, agent: AgentRecord, move: string): string | undefined {
  return step(role.machine, agent.state, move, agent.origin ?? undefined)
}

function carryOut(
  role: Role,
  agent: AgentRecord,
  event: InboxEvent,
  decision: Decision,
  extra: RowBody,
): Handled {
  const { move } = decision
  let effects = numberEffects(agent, decision.effects)
  const body = bodyOf(event, decision)
  if (extra.timers !== undefined || decision.timers !== undefined) {
    body.timers = { ...extra.timers, ...decision.timers }
  }
  if (role.recycles && move !== undefined && role.machine.terminal.includes(move.to)) {
    const id = effectIdOf(agent, effects.length)
    effects = [...effects, { id, kind: 'clean_up', input: { generation: agent.generation } }]
    body.recycling = id
  }
  if (effects.length > 0) body.effects = effects.map(({ id, kind }) => ({ id, kind }))
  const row = rowOf(agent, event, move === undefined ? 'stayed' : 'moved', body, move)
  return { agent: applyRow(agent, row), row, asked: askedBy(decision, effects) }
}

function askedBy({ send, cancel }: Decision, effects: readonly NumberedEffect[]): Asked | null {
  if (send === undefined && cancel === undefined && effects.length === 0) return null
  return { ...NOTHING, messages: send ?? [], effects, cancelled: cancel ?? [] }
}

const NOTHING: Asked = { messages: [], effects: [], cancelled: [], resumesEffects: false }

type NumberedEffect = Asked['effects'][number]

function numberEffects(
  agent: AgentRecord,
  requests: readonly EffectRequest[] = NOTHING.effects,
): readonly NumberedEffect[] {
  if (requests.length === 0) return NOTHING.effects
  return requests.map(({ kind, input }, i) => ({ id: effectIdOf(agent, i), kind, input }))
}

type MutableBody = { -readonly [Key in keyof RowBody]: RowBody[Key] }

/** What a row says of a decision; nothing where there is nothing to say. */
function bodyOf(event: InboxEvent, decision: Decision): MutableBody {
  const body: MutableBody = {}
  if (event.payload !== null) body.payload = event.payload
  if (decision.set !== undefined) body.set = decision.set
  if (decision.send?.length) body.sent = decision.send.map(({ to, type }) => ({ to, type }))
  if (decision.cancel?.length) body.cancelled = decision.cancel
  if (decision.reason !== undefined) body.reason = decision.reason
  if (decision.retry !== undefined) body.retry = decision.retry
  return body
}

/** Enters SUSPEND where the table allows it; elsewhere the effect alone waits. */
function suspend(role: Role, agent: AgentRecord, event: InboxEvent): Handled {
  const payload = event.payload as Partial<Outage> & { reason: string; deadlineMs: number }
  const { reason, deadlineMs, tries = 1, untilMs } = payload
  const named = untilMs === undefined ? {} : { untilMs }
  const outage = { reason, tries, ...named } satisfies Outage
  const body = {
    reason,
    timers: { [SUSPENSION_TIMER]: deadlineMs },
    set: { [OUTAGE]: outage },
    retry: { count: tries, reason },
  }
  if (agent.state === SUSPEND && deadlineMs > (agent.timers[SUSPENSION_TIMER]?.dueMs ?? Infinity)) {
    return record(agent, event, 'stayed', body)
  }
  if (legalTarget(role, agent, 'service_unavailable') !== SUSPEND) {
    return record(agent, event, 'stayed', { reason })
  }
  return record(agent, event, 'moved', body, { event: 'service_unavailable', to: SUSPEND })
}

function restore(role: Role, agent: AgentRecord, event: InboxEvent): Handled {
  const asked = { ...NOTHING, resumesEffects: true }
  if (agent.state !== SUSPEND) return { ...record(agent, event, 'stayed', {}), asked }
  const to = step(role.machine, SUSPEND, 'service_restored', agent.suspendedFrom ?? undefined)
  if (to === undefined) {
    return record(agent, event, 'halted', { error: `suspended from ${agent.suspendedFrom}` })
  }
  const body = { timers: { [SUSPENSION_TIMER]: null }, set: { [OUTAGE]: null } }
  return { ...record(agent, event, 'moved', body, { event: 'service_restored', to }), asked }
}

function fireTimer(role: Role, agent: AgentRecord, event: InboxEvent): Handled {
  const { name } = event.payload as { name: string }
  const over = timerOver(agent, event)
  if (over.timers === undefined) return record(agent, event, 'ignored', {})
  if (name !== SUSPENSION_TIMER) return behave(role, agent, { ...event, payload: name }, over)
  const target = legalTarget(role, agent, 'suspension_timed_out')
  return target === FAILURE
    ? endSuspension(role, agent, event, over)
    : record(agent, event, 'ignored', over)
}

/** A timer that fired is over, whatever becomes of its event; a stale one is over already. */
function timerOver(agent: AgentRecord, event: InboxEvent): Pick<RowBody, 'timers'> {
  const { name, epoch } = event.payload as { name: string; epoch: number }
  return agent.timers[name]?.epoch === epoch ? { timers: { [name]: null } } : {}
}

/** SUSPEND to ERROR. The agent is told, so that its behaviour can go on from there. */
function endSuspension(role: Role, agent: AgentRecord, event: InboxEvent, extra: RowBody): Handled {
  const decision: Decision = {
    move: { event: 'suspension_timed_out', to: FAILURE },
    send: [{ to: agent.id, type: 'suspension_timed_out', payload: null }],
    reason: 'the services did not come back in time',
  }
  const handled = carryOut(role, agent, event, decision, extra)
  return { ...handled, asked: { ...NOTHING, ...handled.asked, cancelled: 'all' } }
}

/** The clean-up is done: a fresh generation, unless failures come too fast. */
function recycle(role: Role, agent: AgentRecord, event: InboxEvent, limits: Limits): Handled {
  const { result } = event.payload as { result: { ok: boolean } }
  if (!result.ok) return record(agent, event, 'halted', { error: 'the clean-up failed' })
  const failed = agent.state === FAILURE && !role.failuresAreWork
  const recent = agent.restartsMs.filter((ms) => ms > event.atMs - limits.restartWindowMs)
  if (failed && recent.length >= limits.restartsMax) {
    const error = `${recent.length} restarts within ${limits.restartWindowMs / 1000} s`
    return record(agent, event, 'halted', { error })
  }
  return bear(role, agent, event, failed ? [...recent, event.atMs] : recent)
}

function bear(
  role: Role,
  agent: AgentRecord,
  event: InboxEvent,
  restartsMs: readonly number[],
): Handled {
  const birth = { generation: agent.generation + 1, data: role.initialData, restartsMs }
  const to = birthState(role.machine)
  const row = rowOf(agent, event, 'born', { birth }, { to })
  return withGreeting(role, applyRow(agent, row), row)
}

/** Writes a row, and asks for nothing to be done. */
function record(
  agent: AgentRecord,
  event: InboxEvent,
  kind: RowKind,
  body: RowBody,
  move?: { readonly event?: string; readonly to: string | null },
): Handled {
  const row = rowOf(agent, event, kind, body, move)
  return { agent: applyRow(agent, row), row, asked: null }
}

function rowOf(
  agent: AgentRecord,
  event: InboxEvent,
  kind: RowKind,
  body: RowBody,
  move?: { readonly event?: string; readonly to: string | null },
): JournalRow {
  return {
    run: agent.runKey,
    agent: agent.key,
    agentId: agent.id,
    agentSeq: agent.seq + 1,
    atMs: event.atMs,
    kind,
    eventId: event.id,
    eventType: event.type,
    from: agent.state,
    to: move === undefined ? agent.state : move.to,
    move: move?.event ?? null,
    body,
  }
}

/** The row that asked for the effect; one from before its birth is not this generation's. */
function askedSeq(event: InboxEvent): number {
  const id = finishedId(event)
  return Number.parseInt(id.slice(id.lastIndexOf(':') + 1), 10)
}

function finishedId(event: InboxEvent): string {
  return (event.payload as { effect: string }).effect
}
