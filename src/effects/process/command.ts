/** A process to run, as an argument list: no shell ever reads it. */
export interface Command {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  /** All of its environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string | Uint8Array
  readonly timeoutMs: number
  /** The most that is kept of each stream; the rest is dropped out of its middle. */
  readonly outputBytesMax: number
  readonly signal?: AbortSignal
}

/** How a process ended. Whichever way: none of its descendants is left. */
export interface Ended {
  /** `killed`: by a signal that was not ours, such as the kernel's when memory is spent. */
  readonly how: 'exited' | 'killed' | 'timed_out' | 'aborted' | 'not_started'
  /** Null unless it exited. */
  readonly exitCode: number | null
  readonly stdout: Buffer
  readonly stderr: Buffer
  /** Both streams in the order of their arrival, bounded like each of them. */
  readonly output: Buffer
  /** How many bytes of both streams were dropped from `output`. */
  readonly droppedBytes: number
  readonly durationMs: number
}
