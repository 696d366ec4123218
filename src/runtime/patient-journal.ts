import type { AgentId, EventId } from '../agents/values.ts'
import { type Clock, sleepUntil } from './clock.ts'
import { type Batch, type Journal, JournalError } from './journal.ts'

const RETRY_MS = 10
const RETRY_MS_MAX = 5_000

/** How long a start waits for its journal: nobody can be told meanwhile, so somebody must be. */
const START_PATIENCE_MS = 30_000

/** A journal that is asked until it answers: a busy or full one is waited for, reads and writes alike. */
export class PatientJournal {
  readonly #journal: Journal
  readonly #clock: Clock
  readonly #end = new AbortController()
  #trouble: string | undefined

  constructor(journal: Journal, clock: Clock) {
    this.#journal = journal
    this.#clock = clock
  }

  /** What the journal said last, while it is waited for. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** Ends the wait: from now on the first failure counts. */
  giveUp(): void {
    this.#end.abort()
  }

  recover() {
    return this.#ask(() => this.#journal.recover(), this.#clock.nowMs() + START_PATIENCE_MS)
  }

  loadAgents(ids: readonly AgentId[]) {
    return this.#ask(() => this.#journal.loadAgents(ids))
  }

  commit(batch: Batch): Promise<void> {
    return this.#ask(() => this.#journal.commit(batch))
  }

  seen(ids: readonly EventId[]) {
    return this.#ask(() => this.#journal.seen(ids))
  }

  dueTimers(nowMs: number, limit: number) {
    return this.#ask(() => this.#journal.dueTimers(nowMs, limit))
  }

  nextDueMs() {
    return this.#ask(() => this.#journal.nextDueMs())
  }

  async #ask<T>(question: () => Promise<T>, untilMs = Infinity): Promise<T> {
    for (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
      try {
        const answer = await question()
        this.#trouble = undefined
        return answer
      } catch (error) {
        const mayPass = error instanceof JournalError && ['busy', 'full'].includes(error.fault)
        if (!mayPass || this.#end.signal.aborted || this.#clock.nowMs() >= untilMs) throw error
        this.#trouble = error.message
        await sleepUntil(this.#clock, this.#clock.nowMs() + waitMs, this.#end.signal)
      }
    }
  }
}
