import type { AgentId, EffectId, EventId, Json, JsonObject, RunId } from '../agents/values.ts'

/**
 * An event from outside. Its id makes it one event however often it is delivered. It is not copied:
 * who delivers it leaves it as it is.
 */
export interface Delivery {
  readonly id: EventId
  readonly agent: AgentId
  readonly type: string
  readonly payload: Json
}

/** An agent that is to be, and the first event that it is told, if it is told one. */
export interface NewAgent {
  readonly id: AgentId
  readonly role: string
  readonly told?: Omit<Delivery, 'agent'>
}

/** How the runtime is doing. */
export type Health =
  | { readonly state: 'well' }
  /** The journal cannot be written to at present; nothing is lost, nothing goes on. */
  | { readonly state: 'waiting_for_journal'; readonly error: string }
  /** There is no room for blobs at present: the effects that have one to store wait. */
  | { readonly state: 'waiting_for_room'; readonly error: string }
  | { readonly state: 'failed'; readonly error: string }

/**
 * Keyed actors with durable mailboxes. An implementation keeps five promises:
 * 1. Events of one agent are handled one at a time, in the order of their acceptance.
 * 2. A repeated event id changes nothing.
 * 3. Event consumed, journal row, new state, messages, effects and timers are one atomic commit,
 *    before any effect runs.
 * 4. Effects run at least once, with the key `agent:seq.i`; the outcome comes back as one event.
 * 5. Timers survive restarts; a stale one is ignored.
 * Every promise below resolves when what it says is durable.
 */
export interface Runtime {
  /** With its first agents, in one commit: all of it is there, or none. One that exists is left as it is. */
  createRun(id: RunId, config: JsonObject, agents?: readonly NewAgent[]): Promise<void>
  /** An agent that exists is left as it is, and told nothing. */
  createAgent(agent: NewAgent & { readonly run: RunId }): Promise<'created' | 'exists'>
  deliver(delivery: Delivery): Promise<'accepted' | 'duplicate' | 'no_agent'>
  /** Gives an effect that waits for somebody outside its outcome; the first answer counts. */
  answer(effect: EffectId, value: Json): Promise<'accepted' | 'not_open'>
  /** Starts nothing new in the run; what is under way ends and is recorded. */
  pause(run: RunId): Promise<void>
  /** As pause, and cancels what is under way; it is done again after resume. */
  stop(run: RunId): Promise<void>
  resume(run: RunId): Promise<void>
  /** Gives a halted agent a fresh generation. */
  revive(agent: AgentId): Promise<void>
  health(): Health
  /** Resolves when nothing is left to do but to wait: for timers, services, people or events. */
  idle(): Promise<void>
  /** Stops without losing anything, and waits a while for the work under way to end. */
  close(): Promise<void>
}
