import type { Git } from '../git/git.ts'
import { isAncestor } from '../git/objects.ts'
import type { MergeRequest } from './forge.ts'

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
  // What the head itself stands on is older than its merge, so that a long history costs nothing.
  const format = '--format=%H %(trailers:key=Slipway-Head,valueonly,separator=%x2C)'
  const grep = `--grep=^Slipway-Head: ${reviewedHead}$`
  const range = ['--end-of-options', target, `^${reviewedHead}`]
  const [isThere, { text }] = await Promise.all([
    isAncestor(git, repository, mergeCommit, target),
    git.run(['log', format, grep, ...range], { repository }),
  ])
  if (isThere) return mergeCommit
  // A message with two such trailers has one that somebody smuggled in: it proves nothing.
  const found = text.split('\n').find((line) => line.split(' ')[1] === reviewedHead)
  return found?.split(' ')[0]
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
