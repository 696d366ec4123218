import { reachEngine } from './engine/reach.ts'
import { followToEnd } from './run.ts'
import { findPlace, type StateOptions } from './state-folder.ts'
import { followTask } from './task.ts'
import { chooseRun } from './view/open-source.ts'
import { readView } from './view/read-view.ts'
import { isRunOver } from './view/run-end.ts'
import { findTask, isTaskOver } from './view/task-status.ts'

export interface WatchOptions extends StateOptions {
  readonly json?: true
}

/**
 * `slipway watch [run]`: the live board; it starts the engine where none is at work. Of what is over
 * it shows the last one, and nobody has to work for that; beside an engine that does not answer, what
 * the journal has.
 */
export async function watch(name: string | undefined, options: WatchOptions): Promise<number> {
  const { source, run, isSilent, close } = await chooseRun(name, options)
  const task = findTask(await source.agents(run))
  const follow = task === undefined ? followToEnd : followTask
  const isOver = task === undefined ? isRunOver(await readView(source, run)) : isTaskOver(task)
  if (isOver || isSilent) return follow(source, run, options).finally(close)
  await close()
  const { root, stateFolder } = findPlace(options)
  return follow(await reachEngine(root, stateFolder), run, options)
}
