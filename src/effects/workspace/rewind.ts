import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { type Contents, readCheckpoint } from './checkpoint.ts'
import type { Place } from './place.ts'
import { isTooLarge } from './scan.ts'
import { storeTree } from './tree.ts'

/** A file that says what is ignored may be among what is put back, and bring others to light. */
const TRIES_MAX = 3

/**
 * Brings the files of a workspace back to its last checkpoint, tracked and untracked ones. Ignored
 * ones, such as installed packages, and what git keeps for itself stay. Only while no process works
 * there: git would follow a link that takes the place of a folder at the right moment.
 */
export async function rewindFolder(
  git: Git,
  repositories: Repositories,
  { folder, index, checkpointRef }: Place,
  { base, submodules }: Contents,
): Promise<void> {
  const repository = repositories.work
  const stored = await readCheckpoint(git, repository, checkpointRef)
  if (stored === undefined) return
  const leaveOut = stored.unstored.filter((path) => isTooLarge(folder, path))
  const source = { git, repositories, folder, index, base, submodules, leaveOut }
  for (let tries = 1; ; tries += 1) {
    // The index has everything then, so that what is too much goes as well.
    const { tree } = await storeTree(source)
    if (tree === stored.tree) return
    if (tries > TRIES_MAX) throw new Error(`${folder} is not as its checkpoint has it`)
    const options = { repository, workTree: folder, index }
    await git.run(['read-tree', '--reset', '-u', stored.tree], options)
  }
}
