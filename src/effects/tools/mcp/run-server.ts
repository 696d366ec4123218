import type { Command, Ended } from '../../process/command.ts'
import type { Processes } from '../../process/processes.ts'

/** The process of a server. Its environment is what its entry names, and nothing else. */
export type ServerCommand = Pick<
  Command,
  'argv' | 'env' | 'stdin' | 'onStdout' | 'timeoutMs' | 'outputBytesMax' | 'signal'
>

/** Starts a server's process and waits for its end: in a sandbox, or on this machine. */
export type RunServer = (command: ServerCommand) => Promise<Ended>

/** What programs need of the environment, and what holds no secret. */
export const HARMLESS: readonly string[] = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'USER',
  'LOGNAME',
]

/**
 * Starts servers on this machine, in a folder that no model writes to: what a server's entry names
 * there is run. Of our environment it sees only where programs and its home are.
 */
export function runOnMachine(
  processes: Processes,
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): RunServer {
  const kept = HARMLESS.flatMap((name) => {
    const value = environment[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const base = Object.fromEntries(kept)
  return (command) => processes.run({ ...command, cwd: folder, env: { ...base, ...command.env } })
}
