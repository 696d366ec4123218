import { type Clock, sleepUntil } from './clock.ts'

/** Failures in a row, over all agents, after which a service is taken to be out. */
const FAILURES_MAX = 5

/** What all effects of one service share: a limit, a moment to wait for, and a circuit breaker. */
export class ServiceGate {
  readonly #clock: Clock
  readonly #concurrencyMax: number
  readonly #queue: (() => void)[] = []
  #inUse = 0
  #closedUntilMs = 0
  #failures = 0

  constructor(clock: Clock, concurrencyMax = Infinity) {
    this.#clock = clock
    this.#concurrencyMax = concurrencyMax
  }

  /** Whether the breaker is open: nobody needs to ask, the answer is known. */
  get isOut(): boolean {
    return this.#failures >= FAILURES_MAX
  }

  /** Whether the service asked to be left alone and the time has not come. */
  get isClosed(): boolean {
    return this.#clock.nowMs() < this.#closedUntilMs
  }

  /** Waits for a place and until the service may be asked again; aborted, it may come early. */
  async enter(signal: AbortSignal): Promise<void> {
    if (this.#inUse >= this.#concurrencyMax) {
      await new Promise<void>((resolve) => this.#queue.push(resolve))
    } else {
      this.#inUse += 1
    }
    while (!signal.aborted && this.isClosed) {
      await sleepUntil(this.#clock, this.#closedUntilMs, signal)
    }
  }

  leave(): void {
    const next = this.#queue.shift()
    if (next === undefined) this.#inUse -= 1
    else next()
  }

  /** Nobody asks before that time: one agent's 429 is everybody's. */
  closeUntil(timeMs: number): void {
    this.#closedUntilMs = Math.max(this.#closedUntilMs, timeMs)
  }

  succeeded(): void {
    this.#failures = 0
  }

  failed(): void {
    this.#failures += 1
  }

  /** The service answered a probe. The time that it named still holds. */
  reset(): void {
    this.#failures = 0
  }
}
