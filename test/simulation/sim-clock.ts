import type { Clock } from '../../src/runtime/clock.ts'

const START_MS = 1_800_000_000_000
/** As with the system's clock, a wall clock that was set forward is noticed after at most this long. */
const SLEEP_MS_MAX = 600_000

interface Wake {
  readonly atMs: number
  readonly order: number
  readonly call: () => void
}

/** Time that passes only when the simulation says so. The wall clock can be set, its passing not. */
export class SimClock implements Clock {
  #elapsedMs = 0
  #offsetMs = 0
  #order = 0
  readonly #wakes = new Map<number, Wake>()

  nowMs(): number {
    return START_MS + this.#elapsedMs + this.#offsetMs
  }

  get elapsedMs(): number {
    return this.#elapsedMs
  }

  /** Sets the wall clock forward or back. */
  jump(ms: number): void {
    this.#offsetMs += ms
  }

  wakeAt(timeMs: number, wake: () => void): () => void {
    let cancel = () => {}
    const sleep = () => {
      const restMs = timeMs - this.nowMs()
      cancel = this.after(Math.min(Math.max(restMs, 0), SLEEP_MS_MAX), () => {
        if (restMs <= SLEEP_MS_MAX) wake()
        else sleep()
      })
    }
    sleep()
    return () => cancel()
  }

  after(delayMs: number, call: () => void): () => void {
    this.#order += 1
    const order = this.#order
    this.#wakes.set(order, { atMs: this.#elapsedMs + delayMs, order, call })
    return () => this.#wakes.delete(order)
  }

  delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve))
  }

  /** Lets time pass until the next wake, and makes it. False when nobody waits. */
  advance(): boolean {
    let next: Wake | undefined
    for (const wake of this.#wakes.values()) {
      if (next === undefined || wake.atMs < next.atMs) next = wake
    }
    if (next === undefined) return false
    this.#wakes.delete(next.order)
    this.#elapsedMs = Math.max(this.#elapsedMs, next.atMs)
    next.call()
    return true
  }

  /** Lets time pass until the promise settles, or nobody waits any more. */
  async finish<T>(promise: Promise<T>): Promise<T> {
    let settled = false
    void promise.finally(() => (settled = true))
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      if (settled || !this.advance()) return promise
    }
  }
}
