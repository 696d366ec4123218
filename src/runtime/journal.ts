import type { AgentId, EffectId, EventId, RunId } from '../agents/values.ts'
import type {
  AgentRecord,
  Closure,
  EffectPhase,
  EffectRecord,
  InboxEvent,
  JournalRow,
  RunRecord,
  StoredRow,
  TimerRecord,
} from './records.ts'

/** What one transaction changes. All of it becomes durable together, or none. */
export interface Batch {
  /** Repeating a batch of the same id changes nothing, so a commit in doubt is simply tried again. */
  readonly id: string
  readonly rows: readonly JournalRow[]
  readonly runs: readonly RunRecord[]
  /** Each newer than what is stored: memory that is behind the disk must not write. */
  readonly agents: readonly AgentRecord[]
  readonly inboxAdded: readonly InboxEvent[]
  /** By order. */
  readonly inboxRemoved: readonly number[]
  readonly effectsAdded: readonly EffectRecord[]
  readonly effectsRemoved: readonly EffectId[]
  readonly effectPhases: readonly { readonly id: EffectId; readonly phase: EffectPhase }[]
  readonly timersSet: readonly TimerRecord[]
  readonly timersRemoved: readonly { readonly agent: number; readonly name: string }[]
  /** One for each service; what was stored of it is replaced. */
  readonly closures: readonly Closure[]
  /** Ids from outside, remembered for good so that a repeated one is recognised. */
  readonly accepted: readonly EventId[]
}

/** What a runtime needs in order to go on: the open work, never what is finished. */
export interface Recovery {
  readonly runs: readonly RunRecord[]
  readonly agentsWithMail: readonly AgentId[]
  readonly effects: readonly EffectRecord[]
  /** Also those whose time has come. */
  readonly closures: readonly Closure[]
  readonly nextDueMs: number | null
  readonly nextAgentKey: number
  readonly nextRunKey: number
  readonly nextOrder: number
}

/** An agent and the events that wait for it, in order. */
export interface LoadedAgent {
  readonly record: AgentRecord
  readonly inbox: readonly InboxEvent[]
}

/** Why a commit did not happen. `busy` and `full` may pass; the others are for a human. */
export type JournalFault = 'busy' | 'full' | 'read_only' | 'damaged' | 'lost'

/** Thrown by a journal that could not do what it was asked; nothing of the batch happened. */
export class JournalError extends Error {
  override readonly name = 'JournalError'
  readonly fault: JournalFault
  constructor(fault: JournalFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.fault = fault
  }
}

/** What can be read of a journal, also while somebody else writes it. */
export interface JournalReader {
  readRuns(): Promise<readonly RunRecord[]>
  /** Every agent of a run. */
  readAgents(run: RunId): Promise<readonly AgentRecord[]>
  /** A run's effects that have no outcome yet, questions to people among them. */
  readEffects(run: RunId): Promise<readonly EffectRecord[]>
  /** A run's rows after a place in the journal, in order. */
  readRows(run: RunId, afterSeq: number, limit: number): Promise<readonly StoredRow[]>
  /** When something last happened in a run; null where nothing has. */
  readLastMs(run: RunId): Promise<number | null>
  /** Those of the ids that were accepted from outside. */
  readAccepted(ids: readonly EventId[]): Promise<ReadonlySet<EventId>>
  /** Ids that were accepted, of events that are in no row and wait in no inbox, whatever the run. */
  readLost(limit: number): Promise<readonly EventId[]>
  close(): Promise<void>
}

/** The durable memory of a state folder. It has one writer. */
export interface Journal extends JournalReader {
  recover(): Promise<Recovery>
  /** The agents that exist, of those asked for. */
  loadAgents(ids: readonly AgentId[]): Promise<readonly LoadedAgent[]>
  /** Resolves when the batch is durable; rejects with a JournalError when nothing of it happened. */
  commit(batch: Batch): Promise<void>
  /** Those of the ids that were accepted before. */
  seen(ids: readonly EventId[]): Promise<ReadonlySet<EventId>>
  /** The timers due at that time, the earliest first. */
  dueTimers(nowMs: number, limit: number): Promise<readonly TimerRecord[]>
  /** When the next timer is due. */
  nextDueMs(): Promise<number | null>
}
