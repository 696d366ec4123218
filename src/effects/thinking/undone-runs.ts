import type { EffectId } from '../../agents/values.ts'
import type { Owner } from '../workspace/place.ts'
import type { Workspaces } from '../workspace/workspaces.ts'

/** Runs of tests in workspaces, of which nothing stays there. */
export class UndoneRuns {
  readonly #workspaces: Pick<Workspaces, 'checkpoint' | 'rewind'>
  /** Workspaces in which a run may have left something, and for which effect it was. */
  readonly #littered = new Map<string, EffectId>()

  constructor(workspaces: Pick<Workspaces, 'checkpoint' | 'rewind'>) {
    this.#workspaces = workspaces
  }

  /**
   * Runs something for an effect, and undoes what it writes. Rejects, and tells why, where the
   * workspace cannot be stored or brought back, which is no matter of what is run; the next try of
   * the effect begins with that.
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
    const key = keyOf(owner)
    if (this.#littered.get(key) === effect) await ours(this.#workspaces.rewind(owner))
    // What is there now is the coder's, whoever wrote it; what the run adds is nobody's work.
    await ours(this.#workspaces.checkpoint(owner))
    this.#littered.set(key, effect)
    try {
      return await work()
    } finally {
      await ours(this.#workspaces.rewind(owner))
      this.#littered.delete(key)
    }
  }

  /** The workspace is about to be another one. */
  forget(owner: Owner): void {
    this.#littered.delete(keyOf(owner))
  }
}

function keyOf({ run, story }: Owner): string {
  return `${run}/${story}`
}
