interface Waiter {
  readonly come: () => void
}

/**
 * Lets so many work at once. Those that wait come in turns by key, so that somebody with much to do
 * keeps nobody else waiting.
 */
export class Places {
  readonly #max: number
  /** By key, in the order of turns. */
  readonly #queues = new Map<string, Waiter[]>()
  #inUse = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Whether whoever comes now has to wait. */
  get isFull(): boolean {
    return this.#inUse >= this.#max
  }

  /** Waits for a place; false when the signal was aborted first, and then there is none to leave. */
  enter(key: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false)
    if (!this.isFull) {
      this.#inUse += 1
      return Promise.resolve(true)
    }
    return new Promise((resolve) => {
      const goAway = () => {
        this.#remove(key, waiter)
        resolve(false)
      }
      const come = () => {
        signal.removeEventListener('abort', goAway)
        resolve(true)
      }
      const waiter = { come }
      signal.addEventListener('abort', goAway, { once: true })
      this.#queues.set(key, [...(this.#queues.get(key) ?? []), waiter])
    })
  }

  /** Gives the place to whose turn it is. */
  leave(): void {
    const next = this.#takeNext()
    if (next === undefined) this.#inUse -= 1
    else next.come()
  }

  #takeNext(): Waiter | undefined {
    for (const [key, [first, ...others]] of this.#queues) {
      this.#queues.delete(key)
      if (others.length > 0) this.#queues.set(key, others)
      return first
    }
    return undefined
  }

  #remove(key: string, waiter: Waiter): void {
    const others = (this.#queues.get(key) ?? []).filter((other) => other !== waiter)
    if (others.length > 0) this.#queues.set(key, others)
    else this.#queues.delete(key)
  }
}
