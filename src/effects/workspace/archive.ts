import { removeNonsense } from '../git/damage.ts'
import type { Git } from '../git/git.ts'
import { EMPTY_TREE, isAncestor } from '../git/objects.ts'
import { changeRefs, type RefChange } from '../git/refs.ts'
import type { Owner, Place } from './place.ts'

/**
 * One ref keeps everything that finished stories have tried, however many they are: each entry is
 * a commit whose first parent is the entry before.
 */
const ARCHIVE = 'refs/slipway/archive'

/** The same once more, since everything hangs on it. */
const ARCHIVE_COPY = 'refs/slipway/archive-copy'

/** The newest entry; a ref that is damaged, or has gone back, comes from its copy. */
async function findNewest(git: Git, work: string): Promise<string | undefined> {
  const [newest, copy] = await git.find(work, [ARCHIVE, ARCHIVE_COPY])
  if (copy === undefined || newest === copy) return newest
  // Where its file is lost, git takes an older place of it out of its packed refs.
  if (newest !== undefined && !(await isAncestor(git, work, newest, copy))) return newest
  await removeNonsense(work, ARCHIVE)
  await changeRefs(git, work, [{ ref: ARCHIVE, to: copy }])
  return copy
}

/** The stories that have refs outside the archive. */
export async function findStories(git: Git, work: string): Promise<readonly Owner[]> {
  const prefixes = ['refs/slipway/checkpoints', 'refs/heads/slipway']
  const args = ['for-each-ref', '--format=%(refname)', ...prefixes]
  const { text } = await git.run(args, { repository: work })
  return text.split('\n').flatMap((ref) => {
    const [, run, story] =
      /^refs\/(?:slipway\/checkpoints|heads\/slipway)\/([^/]+)\/([^/]+)$/.exec(ref) ?? []
    return run === undefined || story === undefined ? [] : [{ run, story }]
  })
}

/** Moves all refs of a story into the archive. */
export async function archiveStory(
  git: Git,
  work: string,
  owner: Owner,
  place: Place,
): Promise<void> {
  const refs = [place.checkpointRef, `refs/heads/${place.branch}`]
  const before = await findNewest(git, work)
  const heads = await git.find(work, refs)
  const found = refs.flatMap((ref, i) => {
    const commit = heads[i]
    return commit === undefined ? [] : [{ ref, commit }]
  })
  if (found.length === 0) return
  const last = before ?? (await addEntry(git, work, [], {}))
  const commits = [...new Set(found.map(({ commit }) => commit))]
  const entry = await addEntry(git, work, [last, ...commits], { ...owner, refs: found })
  const changes: RefChange[] = found.map(({ ref, commit }) => ({ ref, to: null, from: commit }))
  const archive = { ref: ARCHIVE, to: entry, from: before ?? null }
  await removeNonsense(work, ARCHIVE_COPY)
  await changeRefs(git, work, [archive, { ref: ARCHIVE_COPY, to: entry }, ...changes])
}

async function addEntry(
  git: Git,
  work: string,
  parents: readonly string[],
  content: object,
): Promise<string> {
  // Stored, so that what points to it can be copied to other repositories.
  await git.run(['hash-object', '-t', 'tree', '-w', '--stdin'], { repository: work })
  const args = ['commit-tree', EMPTY_TREE, ...parents.flatMap((id) => ['-p', id]), '-F', '-']
  return (await git.run(args, { repository: work, stdin: JSON.stringify(content) })).text
}

/** The newest commits of a story in the archive, by the refs that they had. */
export async function findArchived(
  git: Git,
  work: string,
  { run, story }: Owner,
): Promise<Readonly<Record<string, string>> | undefined> {
  const newest = await findNewest(git, work)
  if (newest === undefined) return undefined
  const format = ['log', '--first-parent', '--format=%B%x00', newest]
  const { text } = await git.run(format, { repository: work, accept: [0, 128] })
  for (const message of text.split('\0')) {
    const entry = message.trim() === '' ? undefined : JSON.parse(message)
    if (entry?.run !== run || entry?.story !== story) continue
    return Object.fromEntries(
      entry.refs.map(({ ref, commit }: { ref: string; commit: string }) => [ref, commit]),
    )
  }
  return undefined
}
