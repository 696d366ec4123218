import type { BrainEvent, Usage } from '../brain.ts'
import type { TurnWatch } from '../turn-watch.ts'

const REPLY_CHARS_MAX = 4 * 1024 * 1024

/** How much an agent may do in one turn. */
export interface AgentBudget {
  /** Requests to its model, as far as it tells, and steps with its own tools. */
  readonly stepsMax: number
  /** Messages of its protocol. */
  readonly updatesMax: number
}

/** What an agent does in a turn, as its protocol tells it; kept within the turn's bounds. */
export class TurnReport {
  readonly #watch: TurnWatch
  readonly #budget: AgentBudget
  readonly #tokensMax: number
  readonly #events: BrainEvent[] = []
  readonly #steps = new Set<string>()
  readonly #openSteps = new Set<string>()
  #updates = 0
  #requests = 0
  #tokens = 0
  /** Those of the requests before the one whose context is told. */
  #tokensBefore = 0
  #isNextRequest = false
  #chars = 0
  #hasText = false
  #isApart = false
  #isThrough = false
  #isEnded = false
  #wake = () => {}
  usage: Usage | undefined
  /** The model that the agent says it asks. */
  model: string | undefined

  constructor(watch: TurnWatch, budget: AgentBudget, tokensMax = Number.POSITIVE_INFINITY) {
    this.#watch = watch
    this.#budget = budget
    this.#tokensMax = tokensMax
  }

  /** Whether the agent has said anything since its last step. */
  get hasLastWord(): boolean {
    return this.#hasText && !this.#isApart
  }

  /** Whether its model was asked, as far as it tells. */
  get hasWorked(): boolean {
    return this.#watch.hasBegun || this.#requests > 0
  }

  /** A message came, whatever it says. */
  update(): void {
    this.#updates += 1
    this.#watch.touch()
    if (this.#updates > this.#budget.updatesMax) this.#exceed(`${this.#updates - 1} messages`)
  }

  /** The agent asks on and reads no answer, so that they pile up. */
  unread(): void {
    this.flooded('does not read what it is answered')
  }

  /** The agent does something without end. */
  flooded(what: string): void {
    this.#endWith(`the agent ${what}`)
  }

  text(text: string): void {
    if (text === '') return
    // What is said before a step and after it are two paragraphs.
    const isNext = this.#hasText && this.#isApart
    this.#hasText = true
    this.#isApart = false
    this.#tell({ type: 'text', text: isNext ? `\n\n${text}` : text })
  }

  reasoning(text: string): void {
    if (text !== '') this.#tell({ type: 'reasoning', text })
  }

  /** A step with a tool of its own has begun. While one lasts, silence is no stall. */
  stepBegan(id: string): void {
    if (this.#steps.has(id)) return
    this.#steps.add(id)
    this.#openSteps.add(id)
    this.#isApart = true
    this.#watch.begin()
    this.#watch.pause()
    if (this.#steps.size > this.#budget.stepsMax) this.#exceed(`${this.#steps.size - 1} steps`)
  }

  /** The agent has asked its model once more; not all of them say so. */
  requested(): void {
    this.#requests += 1
    if (this.#requests > this.#budget.stepsMax) this.#exceed(`${this.#requests - 1} requests`)
  }

  stepEnded(id: string): void {
    if (!this.#openSteps.delete(id)) return
    this.#isNextRequest = true
    if (this.#openSteps.size > 0) return
    this.#watch.resume()
    this.#endWhenUsedUp()
  }

  /**
   * A request was answered that took so many tokens. Once those of the turn are used up, the steps
   * that the reply asked for are waited for, since a call of ours may be among them; the next
   * request is one too many.
   */
  used(tokens: number): void {
    const isOneTooMany = this.#isUsedUp
    this.#tokens += tokens
    if (isOneTooMany || this.#openSteps.size === 0) this.#endWhenUsedUp()
  }

  /**
   * The agent has so many tokens in its context, which is what a request takes. It may say so several
   * times in one request, and what comes after a step is the next one.
   */
  contextIs(tokens: number): void {
    if (this.#isNextRequest) {
      this.#endWhenUsedUp()
      this.#tokensBefore = this.#tokens
      this.#isNextRequest = false
    }
    this.#tokens = Math.max(this.#tokens, this.#tokensBefore + tokens)
  }

  /** The agent has said how it ended. From here on no clock and no budget of the turn counts. */
  through(): void {
    this.#isThrough = true
    this.#watch.stopClocks()
  }

  /** Nothing more will come. */
  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  /** What is told, as it comes, until the end. */
  async *events(): AsyncGenerator<BrainEvent> {
    for (;;) {
      yield* this.#events.splice(0)
      if (this.#isEnded && this.#events.length === 0) return
      if (this.#events.length > 0) continue
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #tell(event: Extract<BrainEvent, { type: 'text' | 'reasoning' }>): void {
    if (this.#isEnded || this.#watch.verdict !== undefined) return
    this.#watch.begin()
    this.#chars += event.text.length
    if (this.#chars > REPLY_CHARS_MAX) {
      this.#exceed(`${REPLY_CHARS_MAX} characters`)
      return
    }
    this.#events.push(event)
    this.#wake()
  }

  get #isUsedUp(): boolean {
    return this.#tokens >= this.#tokensMax
  }

  #endWhenUsedUp(): void {
    if (this.#isUsedUp) this.#exceed(`${this.#tokensMax} tokens`)
  }

  #exceed(what: string): void {
    this.#endWith(`the agent used up ${what} without ending its work`)
  }

  #endWith(message: string): void {
    // What an agent still does while it is stopped after a call takes nothing from that call.
    if (this.#isThrough || this.#watch.signal.aborted) return
    this.#watch.end({ kind: 'invalid_output', message })
  }
}
