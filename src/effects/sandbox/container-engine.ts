import { type Command, type Ended, isNoProgram } from '../process/command.ts'
import type { Processes } from '../process/processes.ts'
import { NotInstalledError } from './sandbox.ts'

/** What a client of an engine needs to find it; nothing of it is seen inside a container. */
const CLIENT_VARIABLES = [
  ...['PATH', 'HOME', 'USER', 'TMPDIR'],
  ...['XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'DBUS_SESSION_BUS_ADDRESS'],
  ...['CONTAINER_HOST', 'CONTAINERS_CONF', 'CONTAINERS_STORAGE_CONF'],
  ...['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG'],
]

/** Long enough to fetch an image. */
const CALL_MS_MAX = 600_000

/** A container engine that answers. */
export interface Engine {
  readonly name: 'podman' | 'docker'
  /** Whether root inside a container is somebody else outside. */
  readonly rootless: boolean
  /** Asks the engine for something. Rejects with what it says when it refuses. */
  call(args: readonly string[]): Promise<string>
  /** Has the engine run a command, as its client; the command's end is the client's. */
  run(args: readonly string[], command: Omit<Command, 'argv' | 'cwd' | 'env'>): Promise<Ended>
}

/** Finds an engine that answers. Rejects when none does, by its own error where none is there. */
export async function openEngine(
  processes: Processes,
  settings: {
    /** Where its clients run: podman's helpers leave notes there. */
    readonly ownFolder: string
    readonly engine?: Engine['name']
    /** Put before every subcommand, such as `--runtime runc`. */
    readonly engineArguments?: readonly string[]
  },
): Promise<Engine> {
  const names = settings.engine ? [settings.engine] : (['podman', 'docker'] as const)
  const refusals: Error[] = []
  for (const name of names) {
    const engine = makeEngine(processes, name, settings)
    try {
      await engine.call(['version'])
      return engine
    } catch (error) {
      refusals.push(error as Error)
    }
  }
  const reasons = refusals.map(({ message }) => message).join('; ')
  const isMissing = refusals.every((refusal) => refusal instanceof NotInstalledError)
  throw isMissing ? new NotInstalledError(reasons) : new Error(reasons)
}

function makeEngine(
  processes: Processes,
  name: Engine['name'],
  { ownFolder, engineArguments = [] }: Parameters<typeof openEngine>[1],
): Engine {
  const run: Engine['run'] = (args, command) => {
    const argv = [name, ...engineArguments, ...args] as [string, ...string[]]
    const place = { cwd: ownFolder, env: clientEnvironment() }
    return processes.run({ ...command, argv, ...place }, 'trusted')
  }
  return {
    name,
    rootless: name === 'podman' && process.getuid?.() !== 0,
    run,
    async call(args) {
      const ended = await run(args, { timeoutMs: CALL_MS_MAX, outputBytesMax: 65_536 })
      if (ended.exitCode === 0) return ended.stdout.toString()
      if (isNoProgram(ended)) throw new NotInstalledError(`${name} is not installed`)
      throw new Error(`${name} ${args[0]}: ${ended.stderr.toString().trim() || ended.how}`)
    },
  }
}

function clientEnvironment(): Record<string, string> {
  const known = CLIENT_VARIABLES.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(known)
}
