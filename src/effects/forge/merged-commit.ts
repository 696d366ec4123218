import type { Git } from '../git/git.ts'
import { isAncestor } from '../git/objects.ts'
import type { MergeRequest } from './forge.ts'

/** A commit of a target by which a story came into it. */
interface Delivery {
  readonly commit: string
  readonly run: string
  readonly story: string
  /** What was reviewed and handed in. */
  readonly head: string
}

/**
 * What stories brought into a target since a head parted from it. What the head stands on is older
 * than its merge, so that a long history costs nothing.
 */
export async function readDeliveries(
  git: Git,
  repository: string,
  target: string,
  head: string,
): Promise<readonly Delivery[]> {
  const trailer = (key: string) => `%(trailers:key=Slipway-${key},valueonly,separator=%x2C)`
  const fields = ['%H', trailer('Run'), trailer('Story'), trailer('Head')]
  const format = `--format=${fields.join('%x09')}`
  const range = ['--end-of-options', target, `^${head}`]
  const { text } = await git.run(['log', format, '--grep=^Slipway-Head: ', ...range], {
    repository,
  })
  // A message with two such trailers has one that somebody smuggled in: it is no commit, no name.
  // The spaces are those that `quieten` puts into texts for a forge.
  return text.split('\n').flatMap((line) => {
    const [commit = '', run = '', story = '', head = ''] = line.replaceAll('\u200b', '').split('\t')
    return commit === '' ? [] : [{ commit, run, story, head }]
  })
}

/**
 * The commit by which a reviewed head came into a target: the one that was going to be put there,
 * or another with the head in its trailers. Undefined when it is not there.
 */
export async function findMergedCommit(
  git: Git,
  repository: string,
  target: string,
  { mergeCommit, reviewedHead }: Pick<MergeRequest, 'mergeCommit' | 'reviewedHead'>,
): Promise<string | undefined> {
  const [isThere, deliveries] = await Promise.all([
    isAncestor(git, repository, mergeCommit, target),
    readDeliveries(git, repository, target, reviewedHead),
  ])
  if (isThere) return mergeCommit
  return deliveries.find(({ head }) => head === reviewedHead)?.commit
}

/** Whether two commits have the same tree. */
export async function haveSameTree(
  git: Git,
  repository: string,
  commits: readonly [string, string],
): Promise<boolean> {
  const trees = commits.map((commit) => `${commit}^{tree}`)
  const { text } = await git.run(['rev-parse', ...trees], { repository })
  const [first, second] = text.split('\n')
  return first === second
}
