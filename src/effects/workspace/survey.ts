import { join } from 'node:path'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { type BytePath, readable } from './byte-path.ts'
import { fingerprint, type GitFolderRecord } from './git-folder.ts'
import type { Place } from './place.ts'
import { below, listIgnored, walkFolders } from './scan.ts'

/** What was stored of a workspace besides its tree. */
export interface StoredParts {
  /** As it was when the clone was made: what has not changed can be cloned again. */
  readonly gitFolder: GitFolderRecord
  /** The files of git's folders that were stored. */
  readonly gitFiles: ReadonlySet<BytePath>
  readonly emptyFolders: ReadonlySet<BytePath>
}

/** Git would look into repositories inside by running itself there. */
const IGNORE_INNER = '--ignore-submodules=all'
const LISTING_MS_MAX = 60_000

/**
 * Compares all that is in a workspace, but for what is ignored, with what was stored of it just now,
 * and gives what is stored nowhere. It knows no shape that git cannot store: whatever is there and
 * not stored is found, and so is a folder that could not be looked into.
 */
export async function surveyWorkspace(
  git: Git,
  repositories: Repositories,
  place: Place,
  { gitFolder, gitFiles, emptyFolders }: StoredParts,
): Promise<readonly BytePath[]> {
  const { folder, index } = place
  const ask = async (...args: string[]) => {
    const { work: repository } = repositories
    const options = { repository, workTree: folder, index, timeoutMs: LISTING_MS_MAX }
    const { stdout } = await git.run(args, { ...options, accept: [0, 1] })
    return stdout.toString('latin1').split('\0').filter(Boolean)
  }
  // What was taken into the index piece by piece has no times there, and would look changed.
  await ask('update-index', '-q', '--refresh')
  const entries = await ask('ls-files', '--stage', '-z')
  const changed = new Set(await ask('diff-files', '--name-only', '-z', IGNORE_INNER))
  const inTree = new Set(entries.map((line) => line.slice(line.indexOf('\t') + 1)))
  const isOfClone = (path: BytePath) => {
    if (!path.startsWith('.git/')) return false
    const seen = gitFolder[readable(path).slice('.git/'.length)]
    return seen !== undefined && seen === fingerprint(join(folder, readable(path)))
  }
  const isStored = (path: BytePath) =>
    (inTree.has(path) && !changed.has(path)) || gitFiles.has(path) || isOfClone(path)
  // A clone comes with the folders of its own .git, and with those of submodules.
  const isEmptyElsewhere = (path: BytePath) =>
    emptyFolders.has(path) || inTree.has(path) || /^(?:\.git(?:\/.*)?)?$/s.test(path)
  const unstored: BytePath[] = []
  const ignored = await listIgnored(git, repositories, place)
  await walkFolders(folder, ignored, (path, inside) => {
    if (inside === undefined || (inside.length === 0 && !isEmptyElsewhere(path))) {
      unstored.push(path)
    }
    for (const entry of inside ?? []) {
      const file = below(path, entry)
      if (!entry.isDirectory() && !ignored.has(file) && !isStored(file)) unstored.push(file)
    }
  })
  return unstored.sort()
}
