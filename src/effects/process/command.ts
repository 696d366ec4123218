import type { Readable } from 'node:stream'

/** A process to run, as an argument list: no shell ever reads it. */
export interface Command {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  /** All of its environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** A stream is what a process that is talked to reads for as long as it lives. */
  readonly stdin?: string | Uint8Array | Readable
  readonly timeoutMs: number
  /** The most that is kept of both streams together; the rest is dropped out of their middle. */
  readonly outputBytesMax: number
  /** The most that is kept of each stream alone; as much as of both unless said. */
  readonly streamBytesMax?: number
  /** The most that it may print before it is ended; 1 GiB unless said. */
  readonly printedBytesMax?: number
  /** Called with what it prints, as it comes. */
  readonly onOutput?: (chunk: Buffer) => void
  /** Called with what it prints on its standard output alone, as it comes. */
  readonly onStdout?: (chunk: Buffer) => void
  readonly signal?: AbortSignal
}

/**
 * How a process ended. Whichever way: none of its descendants is left, unless the kernel could not
 * end one within five seconds.
 */
export interface Ended {
  /**
   * `killed`: by a signal that was not ours, such as the kernel's when memory is spent. `flooded`:
   * by us, because it printed without end.
   */
  readonly how: 'exited' | 'killed' | 'timed_out' | 'aborted' | 'flooded' | 'not_started'
  /** Null unless it exited. */
  readonly exitCode: number | null
  readonly stdout: Buffer
  readonly stderr: Buffer
  /** Both streams in the order of their arrival. */
  readonly output: Buffer
  /** How many bytes of both streams were dropped from `output`. */
  readonly droppedBytes: number
  readonly durationMs: number
}

/** Whether it did not begin because there is no such program; Node's error ends with its code. */
export function isNoProgram({ how, stderr }: Ended): boolean {
  return how === 'not_started' && stderr.toString().endsWith(' ENOENT')
}

/** The end of a command that did not begin. */
export function notStarted(reason: string): Ended {
  const stderr = Buffer.from(reason)
  const output = { stdout: Buffer.alloc(0), stderr, output: stderr, droppedBytes: 0 }
  return { how: 'not_started', exitCode: null, ...output, durationMs: 0 }
}
