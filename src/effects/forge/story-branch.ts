import { removeNonsense } from '../git/damage.ts'
import type { Git } from '../git/git.ts'
import { changeRefs, type RefChange, readRef } from '../git/refs.ts'
import { guardGit } from '../guards/git-guard.ts'
import type { BranchDeletion, BranchHead } from './forge.ts'
import { ForgeFailure } from './forge-failure.ts'

const OWN_BRANCHES = 'slipway/'

/** The ref of a story's branch; refuses every other branch, so that none is ever overwritten. */
export function storyRef({ branch, head }: BranchHead): string {
  guardGit('commit', head)
  if (branch.startsWith(OWN_BRANCHES)) return branchRef(branch)
  throw new ForgeFailure('invalid', `only branches that begin with ${OWN_BRANCHES} are changed`)
}

/** The ref of any branch. */
export function branchRef(branch: string): string {
  return `refs/heads/${guardGit('branch', branch)}`
}

/**
 * Keeps a head that was handed in, also when its branch is gone: reviews are about it. Further refs
 * change with it.
 */
export async function keepHead(
  git: Git,
  work: string,
  number: number,
  head: string,
  further: readonly RefChange[] = [],
): Promise<void> {
  await changeRefs(git, work, [{ ref: `refs/pull/${number}/head`, to: head }, ...further])
}

/** Has a branch that got lost be again at the head that was handed in; undefined if that is lost too. */
export async function bringBack(
  git: Git,
  work: string,
  number: number,
  branch: BranchHead,
): Promise<string | undefined> {
  const ref = storyRef(branch)
  const found = await git.find(work, [
    `refs/pull/${number}/head^{commit}`,
    `${branch.head}^{commit}`,
  ])
  const head = found.find((commit) => commit !== undefined)
  if (head === undefined) return undefined
  await removeNonsense(work, ref)
  await changeRefs(git, work, [{ ref, to: head }])
  return head
}

/** Deletes a branch of the work if it still is at that head. */
export async function deleteWorkBranch(
  git: Git,
  work: string,
  branch: BranchHead,
): Promise<BranchDeletion> {
  const ref = storyRef(branch)
  const at = await readRef(git, work, ref)
  if (at === undefined) return { kind: 'deleted' }
  const isGone =
    at === branch.head && (await changeRefs(git, work, [{ ref, to: null, from: branch.head }]))
  return isGone ? { kind: 'deleted' } : { kind: 'moved', head: at }
}
