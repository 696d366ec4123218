import type { EffectId } from '../agents/values.ts'

/**
 * What the next process is to know of an effect that waits for its turn: that it has not begun. Only
 * where somebody asks, since it takes two commits; whoever works at once is taken to be working.
 */
export class Hold {
  readonly #effect: EffectId
  readonly #tell: ((effect: EffectId, isHeld: boolean) => Promise<void>) | undefined
  #isHeld: boolean

  constructor(
    effect: EffectId,
    isHeld: boolean,
    tell: ((effect: EffectId, isHeld: boolean) => Promise<void>) | undefined,
  ) {
    this.#effect = effect
    this.#isHeld = isHeld
    this.#tell = tell
  }

  /** A wait begins. Not waited for: until it is known, the effect counts as begun. */
  begin(): void {
    if (this.#isHeld || this.#tell === undefined) return
    this.#isHeld = true
    this.#tell(this.#effect, true).catch(() => {})
  }

  /** The wait is over, and that is known when this resolves. False when it can be told no more. */
  async end(): Promise<boolean> {
    if (!this.#isHeld || this.#tell === undefined) return true
    try {
      await this.#tell(this.#effect, false)
      this.#isHeld = false
      return true
    } catch {
      return false
    }
  }
}
