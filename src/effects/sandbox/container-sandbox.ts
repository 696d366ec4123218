import type { Ended } from '../process/command.ts'
import type { Engine } from './container-engine.ts'
import { OpenRuns } from './open-runs.ts'
import type { Sandbox, SandboxCommand } from './sandbox.ts'
import type { WayOut } from './way-out.ts'

/** What an engine's client exits with when the engine failed, and not the command. */
const ENGINE_FAILED = 125
const SIGKILL_EXIT_CODE = 128 + 9

/** It waits for others, so that none stays a zombie, and does nothing else. */
export const FIRST_PROCESS = ['sh', '-c', 'while :; do sleep 3600; done'] as const

/** A sandbox that is a container. Commands run one after another, since each ends as a whole. */
export class ContainerSandbox implements Sandbox {
  readonly level = 'container'
  readonly #engine: Engine
  readonly #names: readonly string[]
  readonly #name: string
  readonly #wayOut: WayOut | undefined
  readonly #runs: OpenRuns
  #last: Promise<unknown> = Promise.resolve()

  /** The names are those of its containers in the order of removal; commands run in the last. */
  constructor(
    engine: Engine,
    names: readonly string[],
    workspace: string,
    wayOut: WayOut | undefined,
  ) {
    this.#engine = engine
    this.#names = names
    this.#name = names.at(-1) ?? ''
    this.#wayOut = wayOut
    this.#runs = new OpenRuns(workspace)
  }

  run(command: SandboxCommand): Promise<Ended> {
    return this.#runs.start(command, (cwd, signal) => {
      const turn = this.#last.then(() => this.#runAlone({ ...command, cwd, signal }))
      this.#last = turn
      return turn
    })
  }

  async close(): Promise<void> {
    await this.#runs.close()
    for (const name of this.#names) await removeContainer(this.#engine, name)
    await this.#wayOut?.close()
  }

  async #runAlone(command: SandboxCommand & { readonly cwd: string }): Promise<Ended> {
    const { argv, env, cwd, ...limits } = command
    const variables = Object.entries({ ...this.#wayOut?.env, ...env })
    const environment = variables.flatMap(([name, value]) => ['--env', `${name}=${value}`])
    const place = ['exec', '--interactive', '--workdir', cwd, ...environment, this.#name]
    const ended = await this.#engine.run([...place, ...argv], limits)
    if (ended.how !== 'not_started') await this.#sweep()
    return judge(ended)
  }

  /** Ends all processes but the first one, in one call that no fork gets around. */
  async #sweep(): Promise<void> {
    const limits = { timeoutMs: 10_000, outputBytesMax: 4_096 }
    // Only where the first process is ours: in the namespace of the machine it would end everything.
    const isOurs = 'read -r first < /proc/1/comm && [ "$first" = sh ]'
    const script = `${isOurs} || exit 1; kill -9 -1 2>/dev/null; exit 0`
    const ended = await this.#engine.run(['exec', this.#name, 'sh', '-c', script], limits)
    // It does not start either where there is no room for another process.
    if (ended.exitCode !== 0) {
      await this.#engine.call(['restart', '--time', '0', this.#name]).catch(() => {})
    }
  }
}

/** Ends a container and all that is in it; one that is not there is no failure. */
export async function removeContainer(engine: Engine, name: string): Promise<void> {
  const now = engine.name === 'podman' ? ['--time', '0'] : []
  await engine.call(['rm', '--force', '--volumes', ...now, name]).catch(() => {})
}

function judge(ended: Ended): Ended {
  if (ended.how !== 'exited') return ended
  if (ended.exitCode === ENGINE_FAILED) return { ...ended, how: 'not_started', exitCode: null }
  if (ended.exitCode === SIGKILL_EXIT_CODE) return { ...ended, how: 'killed', exitCode: null }
  return ended
}
