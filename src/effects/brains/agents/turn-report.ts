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
  readonly #events: BrainEvent[] = []
  readonly #steps = new Set<string>()
  readonly #openSteps = new Set<string>()
  #updates = 0
  #requests = 0
  #chars = 0
  #hasText = false
  #isApart = false
  #isEnded = false
  #wake = () => {}
  usage: Usage | undefined
  /** The model that the agent says it asks. */
  model: string | undefined

  constructor(watch: TurnWatch, budget: AgentBudget) {
    this.#watch = watch
    this.#budget = budget
  }

  /** Whether the agent has said anything since its last step. */
  get hasLastWord(): boolean {
    return this.#hasText && !this.#isApart
  }

  /** A message came, whatever it says. */
  update(): void {
    this.#updates += 1
    this.#watch.touch()
    if (this.#updates > this.#budget.updatesMax) this.#exceed(`${this.#updates - 1} messages`)
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
    if (this.#openSteps.delete(id) && this.#openSteps.size === 0) this.#watch.resume()
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

  #exceed(what: string): void {
    const message = `the agent used up ${what} without ending its work`
    this.#watch.end({ kind: 'invalid_output', message })
  }
}
