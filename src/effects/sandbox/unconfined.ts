import type { Ended } from '../process/command.ts'
import type { Processes } from '../process/processes.ts'
import { sandboxEnvironment } from './environment.ts'
import { OpenRuns } from './open-runs.ts'
import { makeTemporary, prepareOwnFolder, removeTemporary } from './own-folder.ts'
import type { Isolation, Sandbox, SandboxCommand } from './sandbox.ts'

/** No isolation: commands do what the user can do, and their limits and allowed hosts are not kept. */
export async function openUnconfined(
  processes: Processes,
  { stateFolder }: { readonly stateFolder: string },
): Promise<Isolation> {
  const ownFolder = await prepareOwnFolder(stateFolder)
  return {
    level: 'none',
    description:
      'Nothing is confined: commands that a model wrote run as you, can read and change all that you can, your keys among it, and reach the network. They do not inherit the environment, and they end with all they started, as far as that can be found.',
    async open({ workspace }) {
      const home = await makeTemporary(ownFolder, 'home')
      return new UnconfinedSandbox(processes, workspace, home)
    },
  }
}

class UnconfinedSandbox implements Sandbox {
  readonly level = 'none'
  readonly #processes: Processes
  readonly #home: string
  readonly #runs: OpenRuns

  constructor(processes: Processes, workspace: string, home: string) {
    this.#processes = processes
    this.#home = home
    this.#runs = new OpenRuns(workspace)
  }

  run(command: SandboxCommand): Promise<Ended> {
    const PATH = process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin'
    const env = { PATH, ...sandboxEnvironment(this.#home, this.#home), ...command.env }
    return this.#runs.start(command, (cwd, signal) =>
      this.#processes.run({ ...command, cwd, env, signal }, 'unconfined'),
    )
  }

  async close(): Promise<void> {
    await this.#runs.close()
    await removeTemporary(this.#home)
  }
}
