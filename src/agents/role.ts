import type { EventName } from '../machines/events.ts'
import type { Machine } from '../machines/machine.ts'
import type { AgentId, EffectId, EffectResult, Json, JsonObject } from './values.ts'

/** What a behaviour sees of its agent. */
export interface AgentView {
  readonly id: AgentId
  readonly state: string | null
  readonly origin: string | null
  readonly data: JsonObject
  readonly generation: number
  /** The number of the agent's last row. */
  readonly seq: number
}

/** The id of the i-th effect that the decision about the present event asks for. */
export function effectIdOf({ id, seq }: Pick<AgentView, 'id' | 'seq'>, i: number): EffectId {
  return `${id}:${seq + 1}.${i}` as EffectId
}

/** What happened. Time and ids arrive here; a behaviour has no others. */
export interface AgentEvent {
  readonly id: string
  readonly type: string
  readonly payload: Json
  readonly atMs: number
}

/** What a behaviour wants done about an event. All of it is one commit. */
export interface Decision {
  /** A row of the table that leaves the state; absent where the event is handled in place. */
  readonly move?: { readonly event: EventName; readonly to: string }
  /** Changed keys of the agent's data; `null` removes one. */
  readonly set?: JsonObject
  readonly send?: readonly Message[]
  readonly effects?: readonly EffectRequest[]
  /** Open effects whose outcome is no longer wanted. */
  readonly cancel?: readonly EffectId[]
  /** Timers by name, as absolute times; `null` cancels one. */
  readonly timers?: Readonly<Record<string, number | null>>
  readonly reason?: string
  readonly retry?: { readonly count: number; readonly reason: string }
}

export interface Message {
  readonly to: AgentId
  readonly type: string
  readonly payload: Json
}

export interface EffectRequest {
  readonly kind: string
  readonly input: Json
}

/** The behaviour of agents of one kind under one machine. Pure: it awaits nothing and reads no clock. */
export interface Role {
  readonly name: string
  readonly machine: Machine
  /** Whether a terminal state is followed by a clean-up and a fresh generation. */
  readonly recycles: boolean
  /**
   * Whether its failures are its work's, which is bounded elsewhere. Otherwise an agent that fails
   * too often within a short time is halted.
   */
  readonly failuresAreWork?: true
  /** Events from outside that go before others, and are handled also while it is suspended. */
  readonly urgent?: readonly string[]
  /** The data that the first generation starts with, and each later one. */
  readonly initialData: JsonObject
  /** What each generation says as it is born; it may be about to get work. */
  greet?(agent: AgentView): readonly Message[]
  handle(agent: AgentView, event: AgentEvent): Decision
}

/** The event type under which an effect's outcome arrives; the payload is a FinishedEffect. */
export const EFFECT_FINISHED = 'effect_finished'

/** What an outcome's event carries. */
export interface FinishedEffect {
  readonly effect: EffectId
  readonly kind: string
  readonly result: EffectResult
}

/** The outcome that an event brings; undefined for every other event. */
export function finishedEffect(event: AgentEvent): FinishedEffect | undefined {
  return event.type === EFFECT_FINISHED ? (event.payload as unknown as FinishedEffect) : undefined
}

/** The key of an agent's data under which the runtime keeps why it is suspended, or was last. */
export const OUTAGE = '$outage'

/** Why an agent is suspended: what its service answered, and how often it was asked. */
export interface Outage {
  readonly reason: string
  readonly tries: number
  /** Until when it asked to be left alone, where it named a time. */
  readonly untilMs?: number
}

/** The event type of a timer that is due; the payload is its name. */
export const TIMER_FIRED = 'timer_fired'
