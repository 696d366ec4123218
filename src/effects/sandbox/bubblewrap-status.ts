import { readdirSync, readFileSync } from 'node:fs'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { readStartedTick, readStatus } from '../process/process-table.ts'

const ENDING_MS_MAX = 5_000
const IMMEDIATE_LOOKS = 10

/** What bubblewrap says of the command it started, in lines of JSON. */
export class BubblewrapStatus {
  #text = ''
  #first: { readonly pid: number; readonly startedTick: number } | undefined
  #exitCode: number | undefined
  #say = () => {}
  /** Settles when the exit code is known. */
  readonly said = new Promise<void>((resolve) => {
    this.#say = resolve
  })
  /** Called when the first process inside has a number, before the command begins. */
  onFirst: (pid: number) => void = () => {}
  /** The same, for who waits for the command itself. */
  onNamespace: (first: number) => void = () => {}

  add(chunk: Buffer): void {
    this.#text += chunk.toString('latin1')
    const lines = this.#text.split('\n')
    this.#text = lines.pop() ?? ''
    for (const line of lines) this.#read(parse(line))
  }

  /** How the command ended. The first word counts: after it we may have ended the rest ourselves. */
  know(exitCode: number): void {
    this.#exitCode ??= exitCode
    this.#say()
  }

  /** Undefined when the command did not begin, or was not left to end. */
  get exitCode(): number | undefined {
    return this.#exitCode
  }

  /**
   * Ends the first process inside, and with it, by the kernel's own doing, all processes of its
   * namespace. False when it is not known or not gone after five seconds.
   */
  end(): Promise<boolean> {
    return this.#end(false)
  }

  /** The same, but true as soon as none of them runs any more, whether or not all are gone. */
  stop(): Promise<boolean> {
    return this.#end(true)
  }

  async #end(isStillEnough: boolean): Promise<boolean> {
    if (this.#first === undefined) return false
    const deadlineMs = performance.now() + ENDING_MS_MAX
    for (let looks = 1; this.#isAlive(this.#first); looks += 1) {
      if (performance.now() > deadlineMs) return false
      try {
        process.kill(this.#first.pid, 'SIGKILL')
      } catch {
        // It has ended by itself.
      }
      if (isStillEnough && isLast(this.#first.pid)) return true
      // It is gone within microseconds as a rule, and a timer takes a millisecond at least.
      await (looks <= IMMEDIATE_LOOKS ? nextTurn() : sleep(Math.min(looks - IMMEDIATE_LOOKS, 50)))
    }
    return true
  }

  #isAlive({ pid, startedTick }: { readonly pid: number; readonly startedTick: number }): boolean {
    // The first process of a namespace is the last of it to become a zombie.
    return readStatus(pid)?.startedTick === startedTick
  }

  #read(line: Record<string, unknown>): void {
    const { 'child-pid': pid, 'exit-code': exitCode } = line
    if (typeof exitCode === 'number') this.know(exitCode)
    if (typeof pid !== 'number') return
    this.#first = { pid, startedTick: readStartedTick(pid) }
    this.onFirst(pid)
    this.onNamespace(pid)
  }
}

/**
 * Whether a process has neither children nor threads. One that was killed makes none, so nobody but
 * itself is left of its namespace, and it runs no more; to be gone takes it another millisecond,
 * because its mounts go first.
 */
function isLast(pid: number): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.length === 1 && readFileSync(`/proc/${pid}/task/${pid}/children`).length === 0
  } catch {
    // Gone, or a kernel that does not tell.
    return false
  }
}

function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line)
  } catch {
    return {}
  }
}
