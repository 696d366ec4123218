import type { Command, Ended } from '../process/command.ts'

/** How far what a model wrote is kept apart from the rest of the machine. */
export type IsolationLevel = 'bubblewrap' | 'container' | 'none'

/** One way to keep commands in their workspace. */
export interface Isolation {
  readonly level: IsolationLevel
  /** What a person should know about it, in a sentence. */
  readonly description: string
  /** Why nothing is confined although nobody asked for that; absent everywhere else. */
  readonly shortfall?: string
  /** Opens a sandbox around a folder. Rejects when that is impossible here. */
  open(settings: SandboxSettings): Promise<Sandbox>
}

/** What would confine commands is not on this machine. Any other failure of it may pass. */
export class NotInstalledError extends Error {}

/** What one sandbox is for. */
export interface SandboxSettings {
  /** The folder that the commands work in, seen inside under the same path. */
  readonly workspace: string
  /** Whether commands may change the workspace; planning may not. */
  readonly access: 'read' | 'write'
  /** Hosts that may be reached, as `parseHosts` reads them; none by default. */
  readonly hosts?: readonly string[]
  /** Ports of this machine's own loopback that are reached inside under the same number. */
  readonly ports?: readonly number[]
  /** What is seen besides the workspace and the system's programs. */
  readonly mounts?: readonly SandboxMount[]
  readonly limits?: Partial<SandboxLimits>
}

/** A file or folder of this machine that a sandbox shows. */
export interface SandboxMount {
  readonly outside: string
  readonly inside: string
  readonly access: 'read' | 'write'
}

/** What all commands of a sandbox have together. */
export interface SandboxLimits {
  readonly memoryBytesMax: number
  readonly processesMax: number
  /** What each private place may hold: the home, /tmp, /dev/shm. */
  readonly scratchBytesMax: number
}

/** Enough for a build of some size, and far from what a machine has. */
export const DEFAULT_LIMITS: SandboxLimits = {
  memoryBytesMax: 4 * 1024 ** 3,
  processesMax: 1_024,
  scratchBytesMax: 1024 ** 3,
}

/** A command inside a sandbox. */
export interface SandboxCommand {
  readonly argv: readonly [string, ...string[]]
  /** Below the workspace; the workspace itself when absent. */
  readonly cwd?: string
  /** Added to the sandbox's own small environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: NonNullable<Command['stdin']>
  readonly timeoutMs: number
  readonly outputBytesMax: number
  readonly streamBytesMax?: number
  readonly onStdout?: NonNullable<Command['onStdout']>
  readonly signal?: AbortSignal
  /**
   * Whether the shell of a line may say itself what it came to, which is a millisecond faster. Not
   * for what is to be proof: the word of a launcher comes from outside.
   */
  readonly isOwnWordEnough?: true
}

/** A sandbox around one workspace, kept open so that a command in it costs milliseconds. */
export interface Sandbox {
  readonly level: IsolationLevel
  /** Runs a command to its end. Never rejects; none of its descendants outlives it. */
  run(command: SandboxCommand): Promise<Ended>
  /** Ends everything inside. */
  close(): Promise<void>
}
