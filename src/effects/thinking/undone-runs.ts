import type { EffectId } from '../../agents/values.ts'
import type { Owner } from '../workspace/place.ts'
import type { Workspaces } from '../workspace/workspaces.ts'

/** Workspaces that can be stored and brought back. */
export type RewindingWorkspaces = Pick<Workspaces, 'checkpoint' | 'rewind' | 'noteRun' | 'findRun'>

/** Runs of tests in workspaces, of which nothing stays there, also after a kill in their middle. */
export class UndoneRuns {
  readonly #workspaces: RewindingWorkspaces

  constructor(workspaces: RewindingWorkspaces) {
    this.#workspaces = workspaces
  }

  /**
   * Runs something for an effect, and undoes what it writes. Rejects, and tells why, where the
   * workspace cannot be stored or brought back, which is no matter of what is run; the next try of
   * the effect begins with that, be it by another process.
   */
  async run<T>(
    owner: Owner,
    effect: EffectId,
    work: () => Promise<T>,
    onFailure: (error: unknown) => void,
  ): Promise<T> {
    const ours = async (storing: Promise<unknown>) => {
      await storing.catch((error) => {
        onFailure(error)
        throw error
      })
    }
    await ours(this.#store(owner, effect))
    try {
      return await work()
    } finally {
      await ours(this.#undo(owner))
    }
  }

  /** Whatever was done there for another effect since is somebody's work, and is not undone. */
  async #store(owner: Owner, effect: EffectId): Promise<void> {
    if ((await this.#workspaces.findRun(owner)) === effect) await this.#undo(owner)
    // What is there now is the coder's, whoever wrote it; what the run adds is nobody's work.
    await this.#workspaces.checkpoint(owner)
    await this.#workspaces.noteRun(owner, effect)
  }

  async #undo(owner: Owner): Promise<void> {
    await this.#workspaces.rewind(owner)
    await this.#workspaces.noteRun(owner, null)
  }
}
