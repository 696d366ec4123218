/** Lets work on the same thing happen one after the other, and on different things side by side. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Does the work when everything before it that shares one of its keys has ended. */
  take<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = keys.map((key) => this.#last.get(key))
    const result = Promise.all(before).then(work)
    const ended = result.then(
      () => {},
      () => {},
    )
    for (const key of keys) {
      this.#last.set(key, ended)
      void ended.then(() => {
        if (this.#last.get(key) === ended) this.#last.delete(key)
      })
    }
    return result
  }
}
