import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { BoundedOutput } from './bounded-output.ts'
import type { Command, Ended } from './command.ts'
import { endTree } from './process-tree.ts'

/** The environment variable by which processes are found that left their group and their parent. */
const MARK = 'SLIPWAY_PROCESS'

/** How long a process may still print after it has ended, through a pipe that somebody else holds. */
const DRAIN_MS_MAX = 500

/** Starts processes for one state folder, and ends them. Nothing that it started outlives it. */
export interface Processes {
  /**
   * Runs a command to its end. Never rejects. A command that is `trusted` to start nothing that
   * stays, such as git, is spared the look at all processes afterwards.
   */
  run(command: Command, trust?: 'trusted'): Promise<Ended>
  /** Ends what an earlier process of the same state folder has left behind, after a kill -9. */
  endOrphans(): Promise<boolean>
  /** Ends everything that still runs; what is started afterwards does not start. */
  close(): Promise<void>
}

export function openProcesses(stateFolder: string): Processes {
  const folder = createHash('sha256').update(stateFolder).digest('hex').slice(0, 16)
  const self = `${MARK}=${folder}.${randomBytes(6).toString('hex')}`
  const closing = new AbortController()
  const running = new Set<Promise<Ended>>()
  let count = 0

  return {
    run(command, trust) {
      count += 1
      const signals = [closing.signal, ...(command.signal ? [command.signal] : [])]
      const mark = `${self}.${count}.`
      const run = runMarked({ ...command, signal: AbortSignal.any(signals) }, mark, trust)
      running.add(run)
      void run.then(() => running.delete(run))
      return run
    },

    endOrphans: () => endTree({ mark: `${MARK}=${folder}.` }),

    async close() {
      closing.abort()
      await Promise.all(running)
      await endTree({ mark: `${self}.` })
    },
  }
}

async function runMarked(command: Command, mark: string, trust?: 'trusted'): Promise<Ended> {
  const startedMs = performance.now()
  const output = new BoundedOutput(command.outputBytesMax)
  const stdout = new BoundedOutput(command.outputBytesMax)
  const stderr = new BoundedOutput(command.outputBytesMax)
  const ended = (how: Ended['how'], exitCode: number | null): Ended => {
    const { bytes, droppedBytes } = output.take()
    const durationMs = performance.now() - startedMs
    const streams = { stdout: stdout.take().bytes, stderr: stderr.take().bytes, output: bytes }
    return { how, exitCode, ...streams, droppedBytes, durationMs }
  }
  const refuse = (reason: string) => {
    for (const stream of [output, stderr]) stream.add(Buffer.from(reason))
    return ended('not_started', null)
  }
  if (command.signal?.aborted) return refuse('stopped before it was started')
  let child: ChildProcess
  try {
    child = start(command, mark)
  } catch (error) {
    return refuse(String(error))
  }
  const gather = (stream: BoundedOutput) => (chunk: Buffer) => {
    stream.add(chunk)
    output.add(chunk)
  }
  child.stdout?.on('data', gather(stdout))
  child.stderr?.on('data', gather(stderr))
  feed(child, command.stdin)
  const verdict = await waitFor(child, command)
  if (child.pid === undefined) return refuse(verdict.error ?? 'it could not be started')
  if (trust === undefined || verdict.how !== 'exited') await endTree({ pid: child.pid, mark })
  await drain(child)
  return ended(verdict.how, verdict.exitCode)
}

function start({ argv, cwd, env }: Command, mark: string): ChildProcess {
  const [name, value] = mark.split('=') as [string, string]
  const [file, ...args] = argv
  // A group of its own, so that the terminal's Ctrl-C reaches us and not it.
  return spawn(file, args, { cwd, env: { ...env, [name]: value }, detached: true })
}

function feed(child: ChildProcess, stdin: Command['stdin']): void {
  // One that does not read its input to the end is no failure of ours.
  child.stdin?.on('error', () => {})
  child.stdin?.end(stdin ?? '')
}

interface Verdict {
  readonly how: Ended['how']
  readonly exitCode: number | null
  readonly error?: string
}

function waitFor(child: ChildProcess, { signal, timeoutMs }: Command): Promise<Verdict> {
  return new Promise((resolve) => {
    const settle = (verdict: Verdict) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      resolve(verdict)
    }
    const abort = () => settle({ how: 'aborted', exitCode: null })
    const timer = setTimeout(() => settle({ how: 'timed_out', exitCode: null }), timeoutMs)
    signal?.addEventListener('abort', abort)
    child.on('error', (error) => {
      if (child.pid === undefined)
        settle({ how: 'not_started', exitCode: null, error: String(error) })
    })
    child.on('exit', (exitCode) =>
      settle({ how: exitCode === null ? 'killed' : 'exited', exitCode }),
    )
  })
}

/** Waits for the last of the output, but for no longer than somebody who holds the pipe deserves. */
async function drain(child: ChildProcess): Promise<void> {
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null)
  const open = streams.filter((stream) => !stream.closed)
  const closed = open.map((stream) => new Promise((resolve) => stream.once('close', resolve)))
  const enough = new AbortController()
  const late = sleep(DRAIN_MS_MAX, undefined, { signal: enough.signal }).catch(() => {})
  await Promise.race([Promise.all(closed), late])
  enough.abort()
  for (const stream of streams) stream.destroy()
}
