import type { Clock } from './clock.ts'
import { Places } from './places.ts'

/** Failures in a row, over all agents, after which a service is taken to be out. */
const FAILURES_MAX = 5

/** What all effects of one service share: a limit, a moment to wait for, and a circuit breaker. */
export class ServiceGate {
  readonly name: string
  readonly #clock: Clock
  readonly #places: Places
  #closedUntilMs = 0
  #failures = 0

  constructor(name: string, clock: Clock, concurrencyMax = Infinity) {
    this.name = name
    this.#clock = clock
    this.#places = new Places(concurrencyMax)
  }

  /** Whether the breaker is open: nobody needs to ask, the answer is known. */
  get isOut(): boolean {
    return this.#failures >= FAILURES_MAX
  }

  /** Whether the service asked to be left alone and the time has not come. */
  get isClosed(): boolean {
    return this.#clock.nowMs() < this.#closedUntilMs
  }

  /** The latest time that the service named. */
  get closedUntilMs(): number {
    return this.#closedUntilMs
  }

  /** Whether whoever comes now has to wait for a place. */
  get isFull(): boolean {
    return this.#places.isFull
  }

  /**
   * Waits for a place, in turns by key; false when the signal was aborted first. Who has one looks
   * before every try whether the gate is closed.
   */
  enter(key: string, signal: AbortSignal): Promise<boolean> {
    return this.#places.enter(key, signal)
  }

  leave(): void {
    this.#places.leave()
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
