import type { EventName } from '../machines/events.ts'
import type { Machine } from '../machines/machine.ts'
import type { AgentId, EffectId, Json, JsonObject } from './values.ts'

/** What a behaviour sees of its agent. */
export interface AgentView {
  readonly id: AgentId
  readonly state: string | null
  readonly origin: string | null
  readonly data: JsonObject
  readonly generation: number
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
  /** The data that the first generation starts with, and each later one. */
  readonly initialData: JsonObject
  handle(agent: AgentView, event: AgentEvent): Decision
}

/** The event type under which an effect's outcome arrives; the payload is a FinishedEffect. */
export const EFFECT_FINISHED = 'effect_finished'

/** The event type of a timer that is due; the payload is its name. */
export const TIMER_FIRED = 'timer_fired'
