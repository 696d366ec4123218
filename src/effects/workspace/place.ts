import { join } from 'node:path'
import { guardGit } from '../guards/git-guard.ts'

/** Whose workspace it is: one story of one run. */
export interface Owner {
  readonly run: string
  readonly story: string
}

/** A run or a story has a name that no folder and no branch may have. */
export class PlaceError extends Error {
  override readonly name = 'PlaceError'
}

/** Where everything about one workspace is. */
export interface Place {
  readonly folder: string
  /** Where it is made, and where it goes to be removed: what a kill leaves there is nobody's. */
  readonly draft: string
  readonly doomed: string
  /** What we know about it; written last when it is made, so that it also says that it is whole. */
  readonly record: string
  /** For whom something runs there of which nothing is to stay. */
  readonly runNote: string
  /** Our own index of it: the one in its .git is the model's to spoil. */
  readonly index: string
  readonly branch: string
  readonly checkpointRef: string
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

export function placeOf(stateFolder: string, { run, story }: Owner): Place {
  for (const name of [run, story]) {
    if (!NAME.test(name)) {
      throw new PlaceError(`${JSON.stringify(name.slice(0, 100))} is not a name for a workspace`)
    }
  }
  const branch = guardGit('branch', `slipway/${run}/${story}`)
  const folder = join(stateFolder, 'workspaces', run, story)
  // No name has a plus in it, so that nothing of ours has the name of somebody else's workspace.
  return {
    folder,
    draft: `${folder}+new`,
    doomed: `${folder}+old`,
    record: `${folder}+record`,
    runNote: `${folder}+run`,
    index: join(stateFolder, 'git', 'index', `${run}+${story}`),
    branch,
    checkpointRef: `refs/slipway/checkpoints/${run}/${story}`,
  }
}
