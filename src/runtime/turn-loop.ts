import type { AgentId, EventId } from '../agents/values.ts'
import type { Clock } from './clock.ts'
import type { Limits } from './handle.ts'
import type { Memory } from './memory.ts'
import type { PatientJournal } from './patient-journal.ts'
import type { Delivery, Health } from './runtime.ts'
import { Turn } from './turn.ts'

const TIMERS_PER_TURN_MAX = 1_000

/** Events that an agent handles before it is the next one's turn. */
const EVENTS_PER_GO = 16

/** Something for the next turn to take in. It is settled when that turn's batch is durable. */
interface Arrival {
  /** The agent that must be in memory for it. */
  readonly agent: AgentId | undefined
  /** An event from outside, whose id is to be looked up among those accepted before. */
  readonly delivery: Delivery | undefined
  readonly admit: Admit<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

/** Takes something in: the event from outside that was handed over with it, if there is one. */
type Admit<T> = (turn: Turn, delivery: Delivery) => T

export interface TurnLoopParts {
  readonly journal: PatientJournal
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
  #failure: Error | undefined

  constructor(parts: TurnLoopParts) {
    this.#parts = parts
  }

  /** Aborted when the loop ends, be it by itself. */
  get signal(): AbortSignal {
    return this.#end.signal
  }

  get health(): Health {
    if (this.#failure !== undefined) return { state: 'failed', error: this.#failure.message }
    const { trouble } = this.#parts.journal
    if (trouble !== undefined) return { state: 'waiting_for_journal', error: trouble }
    return { state: 'well' }
  }

  begin(): void {
    this.#running = this.#run().catch((error) => this.#fail(error))
  }

  async end(): Promise<void> {
    this.#end.abort()
    this.#parts.journal.giveUp()
    this.wake()
    await this.#running
  }

  /** Looks again whether there is something to do. */
  wake(): void {
    this.#wake()
  }

  /**
   * Has `admit` called in the next turn; resolves with its result when that turn is durable. Where
   * the loop has failed, that is what it is refused with.
   */
  submit<T>(agent: AgentId | undefined, admit: Admit<T>, delivery?: Delivery): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#end.signal.aborted) return reject(this.#failure ?? closed())
      this.#arrivals.push({ agent, admit, resolve, reject, delivery })
      this.#wake()
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
    this.#rejectArrivals(closed())
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

      for (let i = 0; i < arrivals.length; i += 1) settle(arrivals[i] as Arrival, results[i])
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
    const absent = new Set<AgentId>()
    for (const { agent, delivery } of arrivals) {
      if (delivery !== undefined) ids.push(delivery.id)
      if (agent !== undefined && memory.residents.get(agent) === undefined) absent.add(agent)
    }
    const seen = new Set(ids.length === 0 ? [] : await journal.seen(ids))
    await memory.residents.load(absent)
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
    const { residents } = this.#parts.memory
    const { rowsPerTurnMax } = this.#parts.limits
    while (turn.batch.rowCount < rowsPerTurnMax) {
      await residents.loadReady()
      let handled = 0
      for (;;) {
        const room = rowsPerTurnMax - turn.batch.rowCount
        const resident = room > 0 ? residents.takeReady() : undefined
        if (resident === undefined) break
        handled += turn.handleMail(resident, Math.min(room, EVENTS_PER_GO))
      }
      await this.#deliverUnread(turn)
      if (handled === 0 && !residents.hasReady) return
    }
  }

  /** Messages to agents that were not in memory. One to nobody goes back to its sender. */
  async #deliverUnread(turn: Turn): Promise<void> {
    const unread = turn.takeUnread()
    await this.#parts.memory.residents.load(new Set(unread.map(({ to }) => to)))
    for (const letter of unread) turn.deliver(letter)
  }

  async #commit(turn: Turn): Promise<void> {
    if (!turn.batch.isEmpty) await this.#parts.journal.commit(turn.batch.build())
  }

  #fail(error: unknown): void {
    this.#failure = error instanceof Error ? error : new Error(String(error))
    this.#end.abort()
    this.#rejectArrivals(this.#failure)
    for (const resolve of this.#idleWaiters.splice(0)) resolve()
  }

  #rejectArrivals(error: Error): void {
    for (const arrival of this.#arrivals.splice(0)) arrival.reject(error)
  }
}

/** What those are refused with who come after a runtime that was closed in peace. */
const closed = () => new Error('the runtime is closed')

/** Takes an arrival in. What it refuses is an answer, and harms no other arrival. */
function admit(arrival: Arrival, turn: Turn): unknown {
  try {
    return arrival.admit(turn, arrival.delivery as Delivery)
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
