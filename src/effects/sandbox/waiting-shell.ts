import { ChildList } from '../process/child-list.ts'

/** A shell that says more than its exit code has traps, and is not at its end. */
const ANSWER_CHARS_MAX = 100

/** How often a shell that is being started is looked for, and how many times. */
const LOOK_MS = 10
const LOOKS_MAX = 20

/**
 * The shell that waits in a sandbox for its command, seen from outside: what it answers, and whether
 * it is alone. It says what the command came to a millisecond before its launcher does.
 */
export class WaitingShell {
  readonly #onReport: (exitCode: number) => void
  #answer = ''
  #pid: string | undefined
  #own: ChildList | undefined
  #siblings: ChildList | undefined
  #isClosed = false

  constructor(onReport: (exitCode: number) => void) {
    this.#onReport = onReport
  }

  /** The namespace that it will be alone in has begun, with this process. */
  expectIn(first: number, looks = LOOKS_MAX): void {
    setTimeout(() => {
      if (!this.#find(first) && looks > 1) this.expectIn(first, looks - 1)
    }, LOOK_MS).unref()
  }

  addAnswer(chunk: Buffer | undefined): void {
    if (chunk === undefined || this.#answer.length > ANSWER_CHARS_MAX) return
    this.#answer += chunk.toString('latin1')
    const exitCode = reportedIn(this.#answer)
    if (exitCode !== undefined) this.#onReport(exitCode)
  }

  /**
   * Whether the shell has said its last word and nobody else is there. Its children are looked for
   * first: when it ends they become those of the first process.
   */
  isAlone(): boolean {
    if (reportedIn(this.#answer) === undefined || this.#pid === undefined || this.#isClosed) {
      return false
    }
    if (this.#own?.read()?.length) return false
    const [one, ...others] = this.#siblings?.read() ?? []
    if (one === undefined) return true
    // The kernel passes over the next in its list when one goes while it is read.
    return one === this.#pid && others.length === 0 && this.#own?.read() !== undefined
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#own?.close()
    this.#siblings?.close()
  }

  /** Whether there is nothing more to look for. It is the only child until it has its command. */
  #find(first: number): boolean {
    if (this.#answer !== '' || this.#isClosed) return true
    try {
      this.#siblings ??= new ChildList(first)
      const [only, ...others] = this.#siblings.read() ?? []
      if (only === undefined || others.length > 0) return others.length > 0
      this.#own = new ChildList(only)
      this.#pid = only
    } catch {
      // Gone, or a kernel that does not tell: then its launcher is waited for.
    }
    return true
  }
}

/** The exit code that a shell has said; undefined when it has not, or something is still to come. */
function reportedIn(answer: string): number | undefined {
  const [, code] = /^\n(\d{1,3})\n$/.exec(answer) ?? []
  return code === undefined ? undefined : Number(code)
}
