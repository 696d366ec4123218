import { reachEngine } from './engine/reach.ts'
import { followToEnd } from './run.ts'
import { findPlace, type StateOptions } from './state-folder.ts'
import { followTask } from './task.ts'
import { chooseRun } from './view/open-source.ts'
import { findTask } from './view/task-status.ts'

export interface WatchOptions extends StateOptions {
  readonly json?: true
}

/** `slipway watch [run]`: the live board; it starts the engine where none is at work. */
export async function watch(name: string | undefined, options: WatchOptions): Promise<number> {
  const { source, run, close } = await chooseRun(name, options)
  const isTask = findTask(await source.agents(run)) !== undefined
  await close()
  const { root, stateFolder } = findPlace(options)
  const control = await reachEngine(root, stateFolder)
  return isTask ? followTask(control, run, options) : followToEnd(control, run, options)
}
