import { createInterface } from 'node:readline/promises'
import type { Control } from './engine/control.ts'
import { printable } from './printable.ts'
import { answerTo, describeAnswer } from './question-choice.ts'
import { indentedProseFor } from './terminal-text.ts'
import { UsageError } from './usage-error.ts'
import { choiceLines } from './view/question-lines.ts'
import type { QuestionView, RunView } from './view/run-view.ts'

/** What the keys of a board do. */
export interface KeySettings {
  readonly control: Pick<Control, 'answer'>
  readonly out: NodeJS.WriteStream
  /** The key q; undefined where the board cannot be left without the work. */
  readonly leave?: () => void
  readonly interrupt: () => void
  /** Ends the board, and with it whatever is asked at that moment. */
  readonly signal: AbortSignal
}

const CTRL_C = 3
/** What the product manager asks is put to whoever sits there without a key: nothing else goes on. */
const PUT_AT_ONCE: readonly string[] = ['interview', 'preview']

/** A terminal that was closed can be set to nothing more, and what works behind it is to end well. */
const ignore = () => {}

/** The keys of a board: one leaves it, and one answers what is asked. */
export class BoardKeys {
  readonly #settings: KeySettings
  readonly #input = process.stdin
  /** What whoever sits there did not want to answer now. */
  readonly #leftOpen = new Set<string>()
  #wantsToAnswer = false

  constructor(settings: KeySettings) {
    this.#settings = settings
    this.#input.on('error', ignore)
    this.#listen()
  }

  /** Has a question answered where that is wanted; true when the terminal was written to. */
  async attend({ questions }: RunView): Promise<boolean> {
    const question = this.#choose(questions)
    if (question === undefined) return false
    this.close()
    try {
      await this.#ask(question)
    } finally {
      this.#listen()
    }
    return true
  }

  close(): void {
    if (!this.#input.isTTY) return
    this.#input.off('data', this.#onKey)
    this.#input.setRawMode(false)
    this.#input.pause()
  }

  #listen(): void {
    if (!this.#input.isTTY) return
    this.#input.setRawMode(true)
    this.#input.resume()
    this.#input.on('data', this.#onKey)
  }

  readonly #onKey = (key: Buffer) => {
    if (key[0] === CTRL_C) this.#settings.interrupt()
    else if (key.toString() === 'q') this.#settings.leave?.()
    else if (key.toString() === 'a') this.#wantsToAnswer = true
  }

  #choose(questions: readonly QuestionView[]): QuestionView | undefined {
    if (!this.#input.isTTY || this.#settings.signal.aborted) return undefined
    const isWanted = this.#wantsToAnswer
    this.#wantsToAnswer = false
    if (isWanted) return questions[0]
    return questions.find(({ id, kind }) => PUT_AT_ONCE.includes(kind) && !this.#leftOpen.has(id))
  }

  async #ask(question: QuestionView): Promise<void> {
    const { control, out } = this.#settings
    const { id } = question
    const offered = choiceLines(question, ' | ').map((line) => `  ${line}\n`)
    const text = printable(`? ${question.question}\n${offered.join('')}`)
    out.write(`\n${indentedProseFor(out, text)}`)
    for (;;) {
      const text = await this.#readLine('> ')
      if (text === '') {
        this.#leftOpen.add(id)
        return
      }
      try {
        const answer = answerTo(question, text)
        const outcome = await control.answer(id, answer)
        const isOpen = outcome !== 'not_open'
        out.write(`${isOpen ? printable(describeAnswer(answer)) : 'It is not open any more.'}\n`)
        return
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        out.write(`${error.message}\n`)
      }
    }
  }

  /** A line of words; empty where none is given. */
  async #readLine(prompt: string): Promise<string> {
    const { out, interrupt, signal } = this.#settings
    const ended = new AbortController()
    const line = createInterface({ input: this.#input, output: out })
    line.on('error', ignore)
    line.once('SIGINT', () => {
      ended.abort()
      interrupt()
    })
    line.once('close', () => ended.abort())
    try {
      const either = AbortSignal.any([ended.signal, signal])
      return (await line.question(prompt, { signal: either })).trim()
    } catch {
      out.write('\n')
      return ''
    } finally {
      line.close()
    }
  }
}
