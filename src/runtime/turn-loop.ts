import type { AgentId, EventId } from '../agents/values.ts'
import type { Clock } from './clock.ts'
import { commitDurably } from './commit.ts'
import type { Limits } from './handle.ts'
import type { Journal } from './journal.ts'
import type { Memory } from './memory.ts'
import type { Health } from './runtime.ts'
import { Turn } from './turn.ts'

const TIMERS_PER_TURN_MAX = 1_000

/** Something for the next turn to take in. It is settled when that turn's batch is durable. */
interface Arrival {
  /** The agents that must be in memory for it. */
  readonly agents: readonly AgentId[]
  /** An id from outside, to be looked up among those accepted before. */
  readonly eventId: EventId | undefined
  admit(turn: Turn): unknown
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

export interface TurnLoopParts {
  readonly journal: Journal
  readonly clock: Clock
  readonly newId: () => string
  readonly memory: Memory
  readonly limits: Limits
  /** Called when a turn's batch is durable: now its effects may run. */
  publish(turn: Turn): void
}

/** Takes turns for as long as there is something to do: take in, handle, commit, publish. */
export class TurnLoop {
  readonly #parts: TurnLoopParts
  readonly #end = new AbortController()
  readonly #arrivals: Arrival[] = []
  readonly #idleWaiters: (() => void)[] = []
  #running: Promise<void> = Promise.resolve()
  #wake: () => void = () => {}
  #health: Health = { state: 'well' }

  constructor(parts: TurnLoopParts) {
    this.#parts = parts
  }

  /** Aborted when the loop ends, be it by itself. */
  get signal(): AbortSignal {
    return this.#end.signal
  }

  get health(): Health {
    return this.#health
  }

  begin(): void {
    this.#running = this.#run().catch((error) => this.#fail(error))
  }

  async end(): Promise<void> {
    this.#end.abort()
    this.wake()
    await this.#running
  }

  /** Looks again whether there is something to do. */
  wake(): void {
    this.#wake()
  }

  /** Has `admit` called in the next turn; resolves with its result when that turn is durable. */
  submit<T>(agents: readonly AgentId[], admit: (turn: Turn) => T, eventId?: EventId): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#end.signal.aborted) return reject(new Error('the runtime is closed'))
      this.#arrivals.push({ agents, admit, resolve, reject, eventId })
      this.wake()
    })
  }

  /** Resolves when nothing is left to do now. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#end.signal.aborted) return resolve()
      this.#idleWaiters.push(resolve)
      this.wake()
    })
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      if (
        this.#arrivals.length > 0 ||
        this.#parts.memory.residents.hasReady ||
        this.#isTimerDue()
      ) {
        await this.#takeTurn()
      } else {
        if (this.#parts.memory.effects.runningCount === 0) {
          for (const resolve of this.#idleWaiters.splice(0)) resolve()
        }
        await this.#sleep()
      }
    }
    this.#rejectArrivals(new Error('the runtime is closed'))
    for (const resolve of this.#idleWaiters.splice(0)) resolve()
  }

  #isTimerDue(): boolean {
    const { nextDueMs } = this.#parts.memory
    return nextDueMs !== null && nextDueMs <= this.#parts.clock.nowMs()
  }

  /** Waits for an arrival or for the next timer. */
  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const { nextDueMs } = this.#parts.memory
      const cancel = nextDueMs === null ? () => {} : this.#parts.clock.wakeAt(nextDueMs, resolve)
      this.#wake = () => {
        this.#wake = () => {}
        cancel()
        resolve()
      }
    })
  }

  async #takeTurn(): Promise<void> {
    const arrivals = this.#arrivals.splice(0, this.#parts.limits.rowsPerTurnMax)
    try {
      const turn = await this.#beginTurn(arrivals)
      const results = arrivals.map((arrival) => admit(arrival, turn))
      await this.#fireTimers(turn)
      await this.#handleMail(turn)
      await this.#commit(turn)

      for (const [i, arrival] of arrivals.entries()) settle(arrival, results[i])
      this.#parts.publish(turn)
      this.#parts.memory.residents.evict(this.#parts.limits.residentsMax)
    } catch (error) {
      for (const arrival of arrivals) arrival.reject(error as Error)
      throw error
    }
  }

  async #beginTurn(arrivals: readonly Arrival[]): Promise<Turn> {
    const { journal, clock, newId, memory, limits } = this.#parts
    const ids: EventId[] = []
    const agents = new Set<AgentId>()
    for (const arrival of arrivals) {
      if (arrival.eventId !== undefined) ids.push(arrival.eventId)
      for (const agent of arrival.agents) agents.add(agent)
    }
    const seen = new Set(ids.length === 0 ? [] : await journal.seen(ids))
    await memory.residents.load(agents)
    // Whole milliseconds are what is stored.
    return new Turn(newId(), Math.floor(clock.nowMs()), seen, memory, limits)
  }

  async #fireTimers(turn: Turn): Promise<void> {
    if (!this.#isTimerDue()) return
    const { journal } = this.#parts
    const due = await journal.dueTimers(turn.nowMs, TIMERS_PER_TURN_MAX)
    await this.#parts.memory.residents.load(new Set(due.map((timer) => timer.agentId)))
    for (const timer of due) {
      const resident = this.#parts.memory.residents.get(timer.agentId)
      if (resident !== undefined) turn.fire(timer, resident)
    }
    if (due.length === 0) this.#parts.memory.nextDueMs = await journal.nextDueMs()
  }

  /** Lets agents handle events in turns, until nothing is left or the batch is large enough. */
  async #handleMail(turn: Turn): Promise<void> {
    while (turn.batch.rowCount < this.#parts.limits.rowsPerTurnMax) {
      await this.#parts.memory.residents.loadReady()
      let handled = 0
      for (;;) {
        const resident = this.#parts.memory.residents.takeReady()
        if (resident === undefined) break
        if (turn.handleNext(resident)) handled += 1
        if (turn.batch.rowCount >= this.#parts.limits.rowsPerTurnMax) break
      }
      await this.#deliverUnread(turn)
      if (handled === 0 && !this.#parts.memory.residents.hasReady) return
    }
  }

  /** Messages to agents that were not in memory. One to nobody goes back to its sender. */
  async #deliverUnread(turn: Turn): Promise<void> {
    const unread = turn.takeUnread()
    await this.#parts.memory.residents.load(new Set(unread.map(({ to }) => to)))
    for (const letter of unread) turn.deliver(letter)
  }

  async #commit(turn: Turn): Promise<void> {
    if (turn.batch.isEmpty) return
    const { journal, clock } = this.#parts
    await commitDurably(journal, turn.batch.build(), clock, this.#end.signal, (error) => {
      this.#health = { state: 'waiting_for_journal', error }
    })
    this.#health = { state: 'well' }
  }

  #fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.#health = { state: 'failed', error: message }
    this.#end.abort()
    this.#rejectArrivals(error instanceof Error ? error : new Error(message))
    for (const resolve of this.#idleWaiters.splice(0)) resolve()
  }

  #rejectArrivals(error: Error): void {
    for (const arrival of this.#arrivals.splice(0)) arrival.reject(error)
  }
}

/** Takes an arrival in. What it refuses is an answer, and harms no other arrival. */
function admit(arrival: Arrival, turn: Turn): unknown {
  try {
    return arrival.admit(turn)
  } catch (error) {
    return new Refusal(error as Error)
  }
}

/** The batch is durable: the answer may be given. */
function settle({ resolve, reject }: Arrival, result: unknown): void {
  if (result instanceof Refusal) reject(result.error)
  else resolve(result as never)
}

class Refusal {
  readonly error: Error
  constructor(error: Error) {
    this.error = error
  }
}
