import { statSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import type { Ended } from '../process/command.ts'

/** Starts `git cat-file` on a repository; it reads names until its input ends. */
export type StartReading = (
  repository: string,
  stdin: PassThrough,
  onStdout: (chunk: Buffer) => void,
) => Promise<Ended>

type Found = readonly (string | undefined)[]

/** So long a process waits for the next name. To start one takes milliseconds, to ask one does not. */
const IDLE_MS = 2_000
const ANSWER_MS_MAX = 60_000

/** Looks names up in repositories, by a process for each that is held open for a while. */
export class ObjectFinder {
  readonly #start: StartReading
  readonly #readers = new Map<string, Reader>()

  constructor(start: StartReading) {
    this.#start = start
  }

  /** The ids of objects by the names that git knows them under; undefined for what is not there. */
  async find(repository: string, names: readonly string[]): Promise<Found> {
    if (names.some((name) => name.includes('\n'))) throw new Error('a name is one line')
    if (names.length === 0) return []
    // A process whose repository was made anew would look into the old one.
    const stats = statSync(repository, { throwIfNoEntry: false })
    const inode = `${stats?.dev}:${stats?.ino}`
    const known = this.#readers.get(repository)
    if (known?.inode === inode) {
      const found = await known.ask(names)
      if (found !== undefined) return found
    }
    const reader = this.#open(repository, inode)
    const found = await reader.ask(names)
    if (found !== undefined) return found
    throw new Error(`git cat-file: ${await reader.lastWords}`)
  }

  #open(repository: string, inode: string): Reader {
    this.#readers.get(repository)?.end()
    const reader: Reader = new Reader(inode, (stdin, onStdout) =>
      this.#start(repository, stdin, onStdout),
    )
    this.#readers.set(repository, reader)
    void reader.lastWords.then(() => {
      if (this.#readers.get(repository) === reader) this.#readers.delete(repository)
    })
    return reader
  }
}

/** What somebody waits for. */
interface Question {
  readonly count: number
  readonly answers: (string | undefined)[]
  settle(found: Found | undefined): void
}

class Reader {
  readonly inode: string
  /** What it said when it ended. */
  readonly lastWords: Promise<string>
  readonly #stdin = new PassThrough()
  readonly #questions: Question[] = []
  #rest = ''
  #isEnded = false
  #idle: NodeJS.Timeout | undefined

  constructor(
    inode: string,
    start: (stdin: PassThrough, onStdout: (chunk: Buffer) => void) => Promise<Ended>,
  ) {
    this.inode = inode
    const ended = start(this.#stdin, (chunk) => this.#hear(chunk.toString('latin1')))
    this.lastWords = ended.then(({ stderr, how }) => {
      this.#isEnded = true
      clearTimeout(this.#idle)
      for (const { settle } of this.#questions.splice(0)) settle(undefined)
      return stderr.toString().trim() || how
    })
  }

  /** Undefined when it has ended, or does not answer: somebody else is to be asked. */
  ask(names: readonly string[]): Promise<Found | undefined> {
    if (this.#isEnded) return Promise.resolve(undefined)
    clearTimeout(this.#idle)
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.end(), ANSWER_MS_MAX)
      const settle = (found: Found | undefined) => {
        clearTimeout(timer)
        resolve(found)
      }
      this.#questions.push({ count: names.length, answers: [], settle })
      this.#stdin.write(names.map((name) => `${name}\n`).join(''))
    })
  }

  /** It is asked nothing more, and ends when it has answered. */
  end(): void {
    this.#isEnded = true
    this.#stdin.end()
  }

  #hear(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      const [question] = this.#questions
      if (question === undefined) continue
      question.answers.push(/^[0-9a-f]{40,}$/.test(line) ? line : undefined)
      if (question.answers.length < question.count) continue
      this.#questions.shift()
      question.settle(question.answers)
    }
    if (this.#questions.length > 0) return
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.end(), IDLE_MS)
  }
}
