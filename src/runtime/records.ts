/** Everything that is stored, in the shape in which the runtime and the journals exchange it. */

import type { AgentId, EffectId, EventId, Json, JsonObject, RunId } from '../agents/values.ts'

/** `paused` starts nothing new; `stopped` also cancels what is under way. Both can be resumed. */
export type RunStatus = 'running' | 'paused' | 'stopped'

export interface RunRecord {
  readonly key: number
  readonly id: RunId
  readonly status: RunStatus
  readonly createdMs: number
  readonly config: JsonObject
}

/** A durable agent as it is now: the fold of its journal rows. */
export interface AgentRecord {
  readonly key: number
  readonly id: AgentId
  readonly run: RunId
  readonly runKey: number
  readonly role: string
  /** The machine's name, revision included: an agent keeps the table it was born under. */
  readonly machine: string
  readonly state: string | null
  /** The state that was left for this one, where this one returns to it. */
  readonly origin: string | null
  readonly suspendedFrom: string | null
  readonly data: JsonObject
  /** The number of the agent's last row. */
  readonly seq: number
  readonly generation: number
  /** The row that this generation was born with. */
  readonly bornSeq: number
  /** A halted agent handles nothing until somebody revives it. */
  readonly halted: boolean
  /** The armed timers by name; a fired one whose epoch is not here is stale. */
  readonly timers: Readonly<Record<string, Timer>>
  /** The clean-up after which the next generation is born. */
  readonly recycling: EffectId | null
  /** When generations were born after a failure, the most recent ones. */
  readonly restartsMs: readonly number[]
}

export interface Timer {
  /** The row that set it: a later setting has a higher epoch. */
  readonly epoch: number
  readonly dueMs: number
}

/** A timer as the journal indexes it, to find what is due. */
export interface TimerRecord extends Timer {
  readonly agent: number
  readonly agentId: AgentId
  readonly name: string
}

/** An event that waits for its agent. */
export interface InboxEvent {
  readonly id: EventId
  readonly agent: AgentId
  readonly agentKey: number
  readonly type: string
  readonly payload: Json
  /** When it was accepted. */
  readonly atMs: number
  /** Handled before others, and also while the agent is suspended. */
  readonly urgent: boolean
  /** How often its handling threw. */
  readonly tries: number
  /** The place in the order of acceptance over all agents. */
  readonly order: number
}

/** A service that asked to be left alone, and until when. */
export interface Closure {
  readonly service: string
  readonly untilMs: number
}

/**
 * How far an open effect is, for the next process too: somebody may be `working` on it; it is `held`
 * until it is its turn, and has not begun, or not again; or it is `waiting` until the services that
 * are out answer again.
 */
export type EffectPhase = 'working' | 'held' | 'waiting'

/** An effect whose outcome has not been recorded. */
export interface EffectRecord {
  readonly id: EffectId
  readonly agent: number
  readonly agentId: AgentId
  readonly run: RunId
  readonly kind: string
  readonly input: Json
  readonly askedMs: number
  readonly phase: EffectPhase
}

/**
 * What a row records. `born` a generation; `moved` a transition; `stayed` an event handled in
 * place; `ignored` one that is stale; `set_aside` one whose handling kept throwing; `halted` the
 * end of an agent that broke its table or its restart limit.
 */
export type RowKind = 'born' | 'moved' | 'stayed' | 'ignored' | 'set_aside' | 'halted'

/** One entry of the append-only journal. */
export interface JournalRow {
  readonly run: number
  readonly agent: number
  readonly agentId: AgentId
  readonly agentSeq: number
  readonly atMs: number
  readonly kind: RowKind
  readonly eventId: EventId
  readonly eventType: string
  readonly from: string | null
  readonly to: string | null
  /** The event of the table, for a `moved` row. */
  readonly move: string | null
  readonly body: RowBody
}

/** A row with its place in the whole journal. */
export interface StoredRow extends JournalRow {
  readonly seq: number
}

/** What is not looked up by; absent where there is nothing to say. */
export interface RowBody {
  readonly payload?: Json
  /** The changed keys of the agent's data; `null` removes one. */
  readonly set?: JsonObject
  readonly effects?: readonly { readonly id: EffectId; readonly kind: string }[]
  readonly sent?: readonly { readonly to: AgentId; readonly type: string }[]
  /** Timers set, by name, to their due time; `null` cancels one. */
  readonly timers?: Readonly<Record<string, number | null>>
  readonly cancelled?: readonly EffectId[]
  readonly reason?: string
  readonly retry?: { readonly count: number; readonly reason: string }
  readonly error?: string
  /** The effect that cleans up after this generation. */
  readonly recycling?: EffectId
  /** What a generation starts with. */
  readonly birth?: Birth
}

export interface Birth {
  readonly generation: number
  readonly data: JsonObject
  readonly restartsMs: readonly number[]
}
