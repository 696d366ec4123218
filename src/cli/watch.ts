import { reachEngine } from './engine/reach.ts'
import { followToEnd } from './run.ts'
import { findPlace, type StateOptions } from './state-folder.ts'
import { chooseRun } from './view/open-source.ts'

export interface WatchOptions extends StateOptions {
  readonly json?: true
}

/** `slipway watch [run]`: the live board; it starts the engine where none is at work. */
export async function watch(name: string | undefined, options: WatchOptions): Promise<number> {
  const { run, close } = await chooseRun(name, options)
  await close()
  const { root, stateFolder } = findPlace(options)
  return followToEnd(await reachEngine(root, stateFolder), run, options)
}
