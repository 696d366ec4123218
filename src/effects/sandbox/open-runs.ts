import { type Ended, notStarted } from '../process/command.ts'
import type { SandboxCommand } from './sandbox.ts'
import { workingFolder } from './workspace-path.ts'

/** The commands that run in one sandbox, so that closing it ends them. */
export class OpenRuns {
  readonly #workspace: string
  readonly #running = new Map<AbortController, Promise<Ended>>()
  #closed = false

  constructor(workspace: string) {
    this.#workspace = workspace
  }

  /** Starts a command in its folder, unless the sandbox is closed or the folder is outside. */
  async start(
    command: SandboxCommand,
    launch: (cwd: string, signal: AbortSignal) => Promise<Ended>,
  ): Promise<Ended> {
    if (this.#closed) return notStarted('the sandbox is closed')
    const cwd = workingFolder(this.#workspace, command.cwd)
    if (cwd === undefined) return notStarted(`${command.cwd} is not in the workspace`)
    const stop = new AbortController()
    const abort = () => stop.abort()
    if (command.signal?.aborted) abort()
    command.signal?.addEventListener('abort', abort)
    const run = launch(cwd, stop.signal)
    this.#running.set(stop, run)
    const ended = await run
    this.#running.delete(stop)
    command.signal?.removeEventListener('abort', abort)
    return ended
  }

  /** Ends the commands that run, and starts no other. */
  async close(): Promise<void> {
    this.#closed = true
    for (const stop of this.#running.keys()) stop.abort()
    await Promise.all(this.#running.values())
  }
}
