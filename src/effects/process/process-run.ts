import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { BoundedOutput } from './bounded-output.ts'
import { type Command, type Ended, notStarted } from './command.ts'
import { readStartedTick } from './process-table.ts'
import { endTree } from './process-tree.ts'

/** How long a process may be quiet after its end before we stop listening, and how long in all. */
const QUIET_WAIT_MS = 50
const QUIET_WAITS_MAX = 10
const DRAIN_MS_MAX = 30_000
const STANDARD_FILES = 3
const PRINTED_BYTES_MAX = 1024 ** 3
/** The longest that a timer of Node waits; with more it does not wait at all. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** A program that starts the command for us, such as bubblewrap, and that we talk to besides. */
export interface Launcher {
  /** Written to its files from 3 on, when they are known, which are then closed. */
  readonly inputs: readonly (string | Uint8Array | Promise<string>)[]
  /** Called with what it writes to the file after those. */
  onStatus(chunk: Buffer): void
  /** Ends what the command has left. False when it cannot know what that is, or it lives on. */
  end(): Promise<boolean>
}

/** A run that is about to start. */
export interface Run {
  readonly command: Command
  /** `NAME=value`, unlike that of any other run. */
  readonly mark: string
  /** `trusted` leaves nothing behind when it ends by itself. */
  readonly by?: 'trusted' | Launcher | undefined
  readonly closing: AbortSignal
  readonly guardStdio: (wanted: Exclude<StdioOptions, string>) => StdioOptions
}

/** Runs a command to its end, and ends what it leaves. Never rejects. */
export async function runProcess(run: Run): Promise<Ended> {
  const { command } = run
  if (run.closing.aborted || command.signal?.aborted) return notStarted('stopped before it began')
  const gathered = new GatheredOutput(command)
  let child: ChildProcess
  try {
    child = start(run)
  } catch (error) {
    return notStarted(String(error))
  }
  const { pid } = child
  const startedTick = pid === undefined ? 0 : readStartedTick(pid)
  gathered.listen(child)
  feed(child.stdin, command.stdin ?? '')
  if (typeof run.by === 'object') converse(child, run.by)
  const verdict = await waitFor(child, run, gathered)
  if (pid === undefined) return notStarted(verdict.error ?? 'it could not be started')
  // The last word of a launcher may still be on its way.
  if (verdict.how === 'exited' && typeof run.by === 'object') {
    await drain([child.stdio[statusFile(run.by)]])
  }
  await endRest(run, verdict, { mark: run.mark, leader: { pid, startedTick } })
  await drain([child.stdout, child.stderr])
  for (const stream of child.stdio) stream?.destroy()
  return gathered.end(verdict)
}

interface Verdict {
  readonly how: Ended['how']
  readonly exitCode: number | null
  readonly error?: string
}

/** What a command has printed, and what is to be said of it at the end. */
class GatheredOutput {
  readonly #command: Command
  readonly #startedMs = performance.now()
  readonly #stdout: BoundedOutput
  readonly #stderr: BoundedOutput
  readonly #output: BoundedOutput
  #printedBytes = 0
  onFlood = () => {}

  constructor(command: Command) {
    this.#command = command
    this.#stdout = new BoundedOutput(command.outputBytesMax)
    this.#stderr = new BoundedOutput(command.outputBytesMax)
    this.#output = new BoundedOutput(command.outputBytesMax)
  }

  listen(child: ChildProcess): void {
    const gatherInto = (stream: BoundedOutput) => (chunk: Buffer) => {
      stream.add(chunk)
      this.#output.add(chunk)
      this.#printedBytes += chunk.length
      if (this.#printedBytes > (this.#command.printedBytesMax ?? PRINTED_BYTES_MAX)) this.onFlood()
      this.#command.onOutput?.(chunk)
    }
    child.stdout?.on('data', gatherInto(this.#stdout))
    child.stderr?.on('data', gatherInto(this.#stderr))
  }

  end({ how, exitCode }: Verdict): Ended {
    const { bytes, droppedBytes } = this.#output.take()
    return {
      how,
      exitCode,
      stdout: this.#stdout.take().bytes,
      stderr: this.#stderr.take().bytes,
      output: bytes,
      droppedBytes,
      durationMs: performance.now() - this.#startedMs,
    }
  }
}

function start({ command, mark, by, guardStdio }: Run): ChildProcess {
  const [name, value] = mark.split('=') as [string, string]
  const [file, ...args] = command.argv
  const files = typeof by === 'object' ? statusFile(by) + 1 : STANDARD_FILES
  const stdio = guardStdio(Array<'pipe'>(files).fill('pipe'))
  const env = { ...command.env, [name]: value }
  // A session of its own, so that the terminal's Ctrl-C reaches us and not it.
  return spawn(file, args, { cwd: command.cwd, env, stdio, detached: true })
}

function feed(input: Writable | null, content: string | Uint8Array): void {
  // One that does not read its input to the end is no failure of ours.
  input?.on('error', () => {})
  input?.end(content)
}

function converse(child: ChildProcess, launcher: Launcher): void {
  const streams = child.stdio as readonly (Writable | Readable | null)[]
  for (const [i, input] of launcher.inputs.entries()) {
    const stream = streams[STANDARD_FILES + i] as Writable
    if (input instanceof Promise) void input.then((content) => feed(stream, content))
    else feed(stream, input)
  }
  const status = streams[statusFile(launcher)] as Readable
  status.on('error', () => {})
  status.on('data', (chunk: Buffer) => launcher.onStatus(chunk))
}

function statusFile({ inputs }: Launcher): number {
  return STANDARD_FILES + inputs.length
}

function waitFor(child: ChildProcess, run: Run, gathered: GatheredOutput): Promise<Verdict> {
  const { signal, timeoutMs } = run.command
  return new Promise((resolve) => {
    const settle = (verdict: Verdict) => {
      clearTimeout(timer)
      for (const source of [signal, run.closing]) source?.removeEventListener('abort', abort)
      resolve(verdict)
    }
    const stop = (how: Verdict['how']) => () => settle({ how, exitCode: null })
    const abort = stop('aborted')
    const timer = setTimeout(stop('timed_out'), Math.min(timeoutMs, TIMER_MS_MAX))
    for (const source of [signal, run.closing]) source?.addEventListener('abort', abort)
    gathered.onFlood = stop('flooded')
    child.on('error', (error) => {
      if (child.pid !== undefined) return
      settle({ how: 'not_started', exitCode: null, error: String(error) })
    })
    child.on('exit', (exitCode) =>
      settle({ how: exitCode === null ? 'killed' : 'exited', exitCode }),
    )
  })
}

async function endRest(
  { by }: Run,
  { how }: Verdict,
  tree: Parameters<typeof endTree>[0],
): Promise<void> {
  if (how === 'exited' && by === 'trusted') return
  const ended = typeof by === 'object' && (await by.end())
  if (how !== 'exited' || !ended) await endTree(tree)
}

/**
 * Waits for the last of the output, until nothing has come for a while: somebody else may hold the
 * pipe. Time alone does not tell: each wait lets what has arrived be read, however late we are.
 */
async function drain(streams: readonly ChildProcess['stdio'][number][]): Promise<void> {
  const open = streams.filter((stream) => stream && !stream.closed)
  let heard = 0
  let closed = 0
  for (const stream of open) {
    stream?.on('data', () => {
      heard += 1
    })
    stream?.once('close', () => {
      closed += 1
    })
  }
  const ended = open.map((stream) => new Promise((resolve) => stream?.once('close', resolve)))
  const deadlineMs = performance.now() + DRAIN_MS_MAX
  for (let quiet = 0; quiet < QUIET_WAITS_MAX && closed < open.length; ) {
    const before = heard
    const enough = new AbortController()
    const wait = sleep(QUIET_WAIT_MS, undefined, { signal: enough.signal }).catch(() => {})
    await Promise.race([Promise.all(ended), wait])
    enough.abort()
    await new Promise((resolve) => setImmediate(resolve))
    quiet = heard === before ? quiet + 1 : 0
    if (performance.now() > deadlineMs && quiet > 0) return
  }
}
