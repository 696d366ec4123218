import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { Readable, type Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { BoundedOutput } from './bounded-output.ts'
import { type Command, type Ended, notStarted } from './command.ts'
import type { SetMark } from './limit-mark.ts'
import { readStartedTick } from './process-table.ts'
import { endTree } from './process-tree.ts'

/** How long a process may be quiet after its end before we stop listening, and how long in all. */
const QUIET_WAIT_MS = 50
const QUIET_WAITS_MAX = 10
const DRAIN_MS_MAX = 30_000
const STANDARD_FILES = 3
/** To let go of a process takes longer than to hand on what it said, and no model answers sooner. */
const LET_GO_AFTER_MS = 10
const PRINTED_BYTES_MAX = 1024 ** 3
/** Why listening ends, which nobody asks: Node would make an error for each. */
const NO_MATTER = 'no matter'
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
  /** Settles when it has said how its command ended; absent where its own end is to be awaited. */
  readonly said?: Promise<void>
  /** Whether it is plain to see that a command of which it has said so has left nobody. */
  hasLeftNobody?(): boolean
  /** Called when nothing of it is of interest any more. */
  letGo?(): void
  /** For one that is started ahead of its command. */
  readonly later?: Later
}

/** A command that a launcher is given when it runs already. */
export interface Later {
  /** Its clock starts now. The script is written to the file after that of the status. */
  readonly given: Promise<{ readonly command: Command; readonly script: string }>
  /** Called with what is said on that file, and with nothing when no more can be said. */
  onAnswer(chunk?: Buffer): void
}

/** A run that is about to start. */
export interface Run {
  readonly command: Command
  /** `NAME=value`, unlike that of any other run. */
  readonly mark: string
  /** `trusted` leaves nothing behind when it ends by itself. */
  readonly by?: 'trusted' | 'unconfined' | Launcher | undefined
  readonly closing: AbortSignal
  readonly guardStdio: (wanted: Exclude<StdioOptions, string>) => StdioOptions
  readonly setMark: SetMark
}

/** Runs a command to its end, and ends what it leaves. Never rejects. */
export async function runProcess(run: Run): Promise<Ended> {
  const { command, by, closing } = run
  if (closing.aborted || command.signal?.aborted) return notStarted('stopped before it began')
  const startedMs = performance.now()
  let child: ChildProcess
  try {
    child = start(run)
  } catch (error) {
    return notStarted(String(error))
  }
  const started = { child, exit: exitOf(child), startedTick: readStartedTick(child.pid ?? 0) }
  if (typeof by === 'object') converse(child, by)
  const given = await commandGiven(run, started)
  if (given === undefined) return accompany(run, started, startedMs)
  return accompany({ ...run, command: given }, started, performance.now())
}

interface Started {
  readonly child: ChildProcess
  readonly exit: Promise<Verdict>
  readonly startedTick: number
}

/** The command of a launcher that was started ahead, unless it ends before there is one. */
function commandGiven({ command, by, closing }: Run, { exit }: Started) {
  const later = typeof by === 'object' ? by.later : undefined
  if (later === undefined) return undefined
  return new Promise<Command | undefined>((resolve) => {
    const over = new AbortController()
    const settle = (given?: Command) => {
      over.abort(NO_MATTER)
      resolve(given)
    }
    for (const source of [command.signal, closing]) {
      source?.addEventListener('abort', () => settle(), { signal: over.signal })
    }
    void exit.then(() => settle())
    void later.given.then((given) => settle(given.command))
  })
}

/** Stays with a command until nothing of it is left. */
async function accompany(run: Run, started: Started, startedMs: number): Promise<Ended> {
  const { command, by, mark } = run
  const { child, exit, startedTick } = started
  const gathered = new GatheredOutput(command, startedMs)
  gathered.listen(child)
  feed(child.stdin, command.stdin ?? '')
  const verdict = await waitFor(firstWord(exit, by), run, gathered)
  const { pid } = child
  if (pid === undefined) return notStarted(verdict.error ?? 'it could not be started')
  // The last word of a launcher may still be on its way.
  if (verdict.how === 'exited' && typeof by === 'object' && !verdict.isSaid) {
    const end = drain([child.stdio[statusFile(by)]])
    await Promise.race([end, by.said ?? end])
  }
  if (typeof by === 'object' && verdict.isSaid && by.hasLeftNobody?.()) {
    await readRest([child.stdout, child.stderr])
    setTimeout(() => letGo(child, by), LET_GO_AFTER_MS).unref()
    return gathered.end(verdict)
  }
  const output = [child.stdout, child.stderr]
  const isOver = await endRest(run, verdict, { mark, leader: { pid, startedTick } })
  await (isOver ? readRest(output) : drain(output))
  await drain(answerFiles(child, by))
  letGo(child, by)
  return gathered.end(verdict)
}

function letGo({ stdio }: ChildProcess, by: Run['by']): void {
  if (typeof by === 'object') by.letGo?.()
  for (const stream of stdio) stream?.destroy()
}

interface Verdict {
  readonly how: Ended['how']
  readonly exitCode: number | null
  readonly error?: string
  /** For the word of a launcher, after which it says nothing more. */
  readonly isSaid?: true
}

/** What a command has printed, and what is to be said of it at the end. */
class GatheredOutput {
  readonly #command: Command
  readonly #startedMs: number
  readonly #stdout: BoundedOutput
  readonly #stderr: BoundedOutput
  readonly #output: BoundedOutput
  #printedBytes = 0
  onFlood = () => {}

  constructor(command: Command, startedMs: number) {
    this.#command = command
    this.#startedMs = startedMs
    const streamBytesMax = command.streamBytesMax ?? command.outputBytesMax
    this.#stdout = new BoundedOutput(streamBytesMax)
    this.#stderr = new BoundedOutput(streamBytesMax)
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
    child.stdout?.on('data', (chunk: Buffer) => this.#command.onStdout?.(chunk))
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

function start({ command, mark, by, guardStdio, setMark }: Run): ChildProcess {
  const [name, value] = mark.split('=') as [string, string]
  const [file, ...args] = by === 'unconfined' ? setMark(command.argv, mark, command) : command.argv
  const files = typeof by === 'object' ? filesOf(by) : STANDARD_FILES
  const stdio = guardStdio(Array<'pipe'>(files).fill('pipe'))
  const env = { ...command.env, [name]: value }
  // A session of its own, so that the terminal's Ctrl-C reaches us and not it.
  return spawn(file, args, { cwd: command.cwd, env, stdio, detached: true })
}

function feed(input: Writable | null, content: string | Uint8Array | Readable): void {
  // One that does not read its input to the end is no failure of ours.
  input?.on('error', () => {})
  if (!(content instanceof Readable)) input?.end(content)
  else if (input !== null) content.pipe(input)
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
  const { later } = launcher
  if (later === undefined) return
  const script = streams[statusFile(launcher) + 1] as Socket
  for (const end of ['end', 'error']) script.on(end, () => later.onAnswer())
  script.on('data', (chunk: Buffer) => later.onAnswer(chunk))
  void later.given.then((given) => script.end(given.script))
}

function statusFile({ inputs }: Launcher): number {
  return STANDARD_FILES + inputs.length
}

function filesOf(launcher: Launcher): number {
  return statusFile(launcher) + (launcher.later === undefined ? 1 : 2)
}

/** On which a launcher says that its command begins. */
function answerFiles(child: ChildProcess, by: Run['by']) {
  return typeof by === 'object' ? child.stdio.slice(statusFile(by) + 1, filesOf(by)) : []
}

function exitOf(child: ChildProcess): Promise<Verdict> {
  return new Promise((resolve) => {
    child.on('error', (error) => {
      if (child.pid !== undefined) return
      resolve({ how: 'not_started', exitCode: null, error: String(error) })
    })
    child.on('exit', (exitCode) =>
      resolve({ how: exitCode === null ? 'killed' : 'exited', exitCode }),
    )
  })
}

/** What a launcher says of its command comes before its own end. */
function firstWord(exit: Started['exit'], by: Run['by']): Promise<Verdict> {
  const said = typeof by === 'object' ? by.said : undefined
  if (said === undefined) return exit
  const end: Verdict = { how: 'exited', exitCode: null, isSaid: true }
  return Promise.race([exit, said.then(() => end)])
}

function waitFor(exit: Started['exit'], run: Run, gathered: GatheredOutput): Promise<Verdict> {
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
    void exit.then(settle)
    if (signal?.aborted || run.closing.aborted) abort()
  })
}

/** True when it is certain that nobody is left who could print. */
async function endRest(
  { by }: Run,
  { how }: Verdict,
  tree: Parameters<typeof endTree>[0],
): Promise<boolean> {
  if (how === 'exited' && by === 'trusted') return false
  const ended = typeof by === 'object' && (await by.end())
  if (how === 'exited' && ended) return true
  await endTree(tree)
  return false
}

/**
 * Reads what was printed, where nobody is left to print more. It is there to be read, so the first
 * round of the event loop that brings nothing was the last. The end of the streams comes later:
 * a launcher holds them until it has ended.
 */
async function readRest(streams: readonly ChildProcess['stdio'][number][]): Promise<void> {
  const open = streams.filter((stream) => stream && !stream.closed)
  let heard = 0
  for (const stream of open) {
    stream?.on('data', () => {
      heard += 1
    })
  }
  // The first round may be one that had begun to look before.
  for (let quiet = 0, before = 0; quiet < 2; before = heard) {
    await new Promise((resolve) => setImmediate(resolve))
    quiet = heard === before ? quiet + 1 : 0
  }
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
