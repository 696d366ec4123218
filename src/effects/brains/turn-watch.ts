import type { BrainFailure } from './brain.ts'

/** How long a turn may take. */
export interface TurnTimeouts {
  /** Until the reply begins. */
  readonly firstTokenMs: number
  /** Between two signs of life of a reply that has begun. */
  readonly idleMs: number
  readonly totalMs: number
}

/** To let go of a stream takes longer than to hand the reply on, and to act upon it comes first. */
const LET_GO_AFTER_MS = 50

/** One for all: to make one takes longer than to abort with it. */
const OVER = new DOMException('the turn is over', 'AbortError')

/** Ends a turn that takes too long, that nobody wants any more, or that has gone wrong. */
export class TurnWatch {
  readonly #end = new AbortController()
  readonly #timeouts: TurnTimeouts
  readonly #outer: AbortSignal
  readonly #total: NodeJS.Timeout
  #gap: NodeJS.Timeout
  #begun = false
  #hasWord = false
  #isSent = false
  #isAnswering = false
  #isPaused = false
  #isTimed = true
  #isAnswered = false
  #verdict: BrainFailure | undefined
  /** Called when nothing more of the reply is to come, whether or not its stream ends. */
  onWhole = () => {}

  constructor(timeouts: TurnTimeouts, outer: AbortSignal) {
    const { firstTokenMs, totalMs } = timeouts
    this.#timeouts = timeouts
    this.#outer = outer
    this.#total = setTimeout(() => this.#timeOut(`no whole reply within ${totalMs} ms`), totalMs)
    this.#gap = setTimeout(() => this.#timeOut(`no reply within ${firstTokenMs} ms`), firstTokenMs)
    outer.addEventListener('abort', this.#abort)
    if (outer.aborted) this.#abort()
  }

  /** Aborted when the turn is to end, for whatever reason. */
  get signal(): AbortSignal {
    return this.#end.signal
  }

  /** Why the turn was ended; undefined while it may go on. */
  get verdict(): BrainFailure | undefined {
    return this.#verdict
  }

  /** Whether the reply was whole: nothing but the end of its stream is still to come. */
  get isAnswered(): boolean {
    return this.#isAnswered
  }

  /** Whether something of the reply itself has come. */
  get hasBegun(): boolean {
    return this.#begun
  }

  /** Whether the last that came was a word, and not the beginning of silent reasoning. */
  get hasWord(): boolean {
    return this.#hasWord
  }

  /** Whether somebody took the request. */
  get isSent(): boolean {
    return this.#isSent
  }

  /** Whether something has come of what may become a reply. */
  get isAnswering(): boolean {
    return this.#isAnswering
  }

  send(): void {
    this.#isSent = true
  }

  /** Who took the request does not work on it. */
  decline(): void {
    this.#isSent = false
  }

  answer(): void {
    this.#isAnswering = true
  }

  /**
   * Something of the reply itself has come; from now on silence is a stall. Where that was not a
   * word of it, silence may last as long as a first word may take, until one comes.
   */
  begin(hasWord = true): void {
    if (this.#verdict !== undefined || (this.#begun && this.#hasWord === hasWord)) return
    this.#begun = true
    this.#hasWord = hasWord
    this.resume()
  }

  /** Stops counting: it is not the provider who is waited for. */
  pause(): void {
    this.#isPaused = true
    if (this.#begun) clearTimeout(this.#gap)
  }

  /** Counts again, from the start. */
  resume(): void {
    this.#isPaused = false
    if (!this.#begun || !this.#isTimed || this.signal.aborted) return
    clearTimeout(this.#gap)
    const { firstTokenMs, idleMs } = this.#timeouts
    if (!this.#hasWord) {
      const silence = `not a word for ${firstTokenMs} ms`
      this.#gap = setTimeout(() => this.#timeOut(silence), firstTokenMs)
      return
    }
    const message = `nothing came for ${idleMs} ms in the middle of the reply`
    this.#gap = setTimeout(() => this.end({ kind: 'stalled', message }), idleMs)
  }

  /** Bytes came, if only to keep the connection alive. */
  touch(): void {
    if (!this.#begun || this.#isPaused || !this.#isTimed || this.signal.aborted) return
    this.#gap.refresh()
  }

  /** Counts no more: all has been said. Whoever gives the turn up still ends it. */
  stopClocks(): void {
    this.#isTimed = false
    clearTimeout(this.#total)
    clearTimeout(this.#gap)
  }

  /** The reply is whole, and the turn over. */
  finish(): void {
    if (this.#verdict !== undefined) return
    this.#isAnswered = true
    this.#stopWatching()
    setTimeout(() => this.close(), LET_GO_AFTER_MS).unref()
  }

  /** Ends the turn. The first reason stands. */
  end(failure: BrainFailure): void {
    if (this.#verdict !== undefined) return
    this.#verdict = failure
    this.close()
  }

  /** Lets go of the clock and of the connection. */
  close(): void {
    this.#stopWatching()
    this.#end.abort(OVER)
  }

  #stopWatching(): void {
    this.stopClocks()
    this.#outer.removeEventListener('abort', this.#abort)
  }

  readonly #abort = (): void => {
    this.end({ kind: 'aborted', message: 'the turn was given up' })
  }

  #timeOut(message: string): void {
    this.end({ kind: 'timeout', message })
  }
}
