import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import type { BytePath } from './byte-path.ts'
import type { Place } from './place.ts'
import { findTooLarge } from './scan.ts'

/** To look at every file takes about as long as a checkpoint; git reads a large one for seconds. */
const WATCH_AFTER_MS = 1_000

/** Looks for files that git would read for hours, once it takes longer than it does without any. */
export interface LargeFileWatch {
  /** Tells git to end, when there is one. */
  readonly signal: AbortSignal
  /** Ends the watch, and gives what was found. */
  end(): Promise<readonly BytePath[]>
}

/** Watches a workspace that is being stored; those that are known are no news. */
export function watchForLarge(
  git: Git,
  repositories: Repositories,
  place: Place,
  known: readonly BytePath[],
): LargeFileWatch {
  const ending = new AbortController()
  let looking: Promise<readonly BytePath[]> = Promise.resolve([])
  const look = async () => {
    const large = await findTooLarge(git, repositories, place)
    const found = await findUnstored(
      git,
      repositories,
      place,
      large.filter((path) => !known.includes(path)),
    )
    if (found.length > 0) ending.abort()
    return found
  }
  const timer = setTimeout(() => {
    // A workspace that cannot be looked through now is looked through once it can be read.
    looking = look().catch(() => [])
  }, WATCH_AFTER_MS)
  const end = () => {
    clearTimeout(timer)
    return looking
  }
  return { signal: ending.signal, end }
}

/** Those of some files that differ from what the index has of them. */
async function findUnstored(
  git: Git,
  { work: repository }: Repositories,
  { folder, index }: Place,
  paths: readonly BytePath[],
): Promise<readonly BytePath[]> {
  if (paths.length === 0) return []
  const list = async (...args: string[]) => {
    const { stdout } = await git.run([...args, '-z'], { repository, workTree: folder, index })
    return new Set(stdout.toString('latin1').split('\0'))
  }
  const tracked = await list('ls-files')
  const changed = await list('diff-files', '--name-only')
  return paths.filter((path) => !tracked.has(path) || changed.has(path))
}
