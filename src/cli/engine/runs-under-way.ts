import { readView } from '../view/read-view.ts'
import { isRunOver } from '../view/run-end.ts'
import type { RunSource } from '../view/run-source.ts'
import type { RunView } from '../view/run-view.ts'

/** So long one that is over is not looked at again; an engine stays longer than that. */
const OVER_MS = 10_000

/**
 * The runs that something may have to be done for. Those that are over are looked at seldom, so
 * that a state folder with many of them costs no more than one with none.
 */
export class RunsUnderWay {
  readonly #source: RunSource
  readonly #overSinceMs = new Map<string, number>()

  constructor(source: RunSource) {
    this.#source = source
  }

  async read(): Promise<readonly RunView[]> {
    const nowMs = Date.now()
    const isDue = ({ id }: { readonly id: string }) =>
      nowMs - (this.#overSinceMs.get(id) ?? -Infinity) > OVER_MS
    const runs = (await this.#source.runs()).filter(isDue)
    const views = await Promise.all(runs.map(({ id }) => readView(this.#source, id)))
    for (const view of views) {
      if (isRunOver(view)) this.#overSinceMs.set(view.run, nowMs)
      else this.#overSinceMs.delete(view.run)
    }
    return views.filter((view) => !isRunOver(view))
  }
}
