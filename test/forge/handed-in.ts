import type {
  Forge,
  ForgeAnswer,
  MergeRequest,
  PullRequest,
} from '../../src/effects/forge/forge.ts'
import { changeRefs } from '../../src/effects/git/refs.ts'
import type { GitWorld } from '../git/world.ts'

/** Gives the value of an answer; a failure fails the test with its words. */
export function requireValue<T>(answer: ForgeAnswer<T>): T {
  if (answer.ok) return answer.value
  throw new Error(`${answer.error.code}: ${answer.error.message}`)
}

/** Gives the error of an answer that must be one. */
export function requireError(answer: ForgeAnswer<unknown>) {
  if (!answer.ok) return answer.error
  throw new Error(`no failure but ${JSON.stringify(answer.value)}`)
}

export const branchOf = (story: string) => `slipway/r1/${story}`

/** Commits one more file on top of a commit, as a coder's work arrives; its branch moves there. */
export async function work(world: GitWorld, story: string, parent = world.base): Promise<string> {
  const { git, repositories } = world
  const repository = repositories.work
  const hash = ['hash-object', '-w', '--stdin']
  const { text: blob } = await git.run(hash, { repository, stdin: `${story} on ${parent}\n` })
  const { text: before } = await git.run(['ls-tree', parent], { repository })
  const others = before.split('\n').filter((line) => !line.endsWith(`\t${story}.txt`))
  const stdin = [...others, `100644 blob ${blob}\t${story}.txt`, ''].join('\n')
  const { text: tree } = await git.run(['mktree'], { repository, stdin })
  const commit = ['commit-tree', tree, '-p', parent, '-m', `Work on ${story}`]
  const { text: head } = await git.run(commit, { repository })
  await changeRefs(git, repository, [{ ref: `refs/heads/${branchOf(story)}`, to: head }])
  return head
}

/** Publishes a head and opens its pull request. */
export async function handIn(forge: Forge, story: string, head: string): Promise<PullRequest> {
  const branch = branchOf(story)
  requireValue(await forge.publish({ branch, head }))
  const text = { title: `Story ${story}`, body: `What ${story} is about.` }
  return requireValue(await forge.openPullRequest({ branch, head, target: 'main', ...text }))
}

/** The squashed commit of a head on a target, with the trailers that a merge gives it. */
export async function squash(
  { git, repositories }: GitWorld,
  { number, head }: Pick<PullRequest, 'number' | 'head'>,
  expectedTarget: string,
): Promise<MergeRequest> {
  const repository = repositories.work
  const merge = ['merge-tree', '--write-tree', expectedTarget, head]
  const { text: tree } = await git.run(merge, { repository })
  const stdin = `Story ${number}\n\nIts body.\n\nSlipway-Run: r1\nSlipway-Head: ${head}\n`
  const commit = ['commit-tree', tree, '-p', expectedTarget, '-F', '-']
  const { text: mergeCommit } = await git.run(commit, { repository, stdin })
  return { number, reviewedHead: head, mergeCommit, expectedTarget }
}
