import type { Ended } from '../process/command.ts'
import type { Sandbox, SandboxCommand } from './sandbox.ts'

const TRIAL_MS_MAX = 30_000

/** A sandbox that notices when it can start nothing, which is no matter of the command. */
export class WatchedSandbox implements Sandbox {
  readonly #sandbox: Sandbox
  #standstill: string | undefined

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox
  }

  get level() {
    return this.#sandbox.level
  }

  /** Why a command was not started, where no other could have been either. */
  get standstill(): string | undefined {
    return this.#standstill
  }

  async run(command: SandboxCommand): Promise<Ended> {
    const ended = await this.#sandbox.run(command)
    const isNoStop = ended.how === 'not_started' && !command.signal?.aborted
    if (isNoStop) this.#standstill ??= await whyNothingStarts(this.#sandbox)
    return ended
  }

  close(): Promise<void> {
    return this.#sandbox.close()
  }
}

/** The launcher of a command that has an environment was not started ahead, when all was well. */
async function whyNothingStarts(sandbox: Sandbox): Promise<string | undefined> {
  const limits = { timeoutMs: TRIAL_MS_MAX, outputBytesMax: 4_096 }
  const { how, output } = await sandbox.run({ argv: ['true'], env: { CI: 'true' }, ...limits })
  return how === 'not_started' ? output.toString().trim() || how : undefined
}
