import { setTimeout as sleep } from 'node:timers/promises'
import type { Forge, ForgeError } from '../forge/forge.ts'
import { findMergedCommit } from '../forge/merged-commit.ts'
import type { Git } from '../git/git.ts'
import { findObjects, type Repositories } from '../git/repositories.ts'
import { guardGit } from '../guards/git-guard.ts'
import type { Owner } from '../workspace/place.ts'
import type { Conflict, FurtherConflicts } from './conflict.ts'
import { mergeTrees } from './merge-tree.ts'

export interface StoryMerge {
  readonly owner: Owner
  readonly target: string
  /** The pull request. */
  readonly number: number
  /** The commit that was reviewed; nothing else is merged. */
  readonly head: string
  readonly title: string
  readonly body: string
  /** When the merge was asked for: a repeated try makes the same commit again. */
  readonly atMs: number
}

export type MergeOutcome<Gate> =
  /**
   * `asTested`: whether the target holds the very tree that the gate saw before. Where it does not,
   * because somebody moved the target at the last moment, `gate` is of the merged tree, run
   * afterwards, and may have failed.
   */
  | {
      readonly kind: 'merged'
      readonly commit: string
      readonly onto: string
      readonly asTested: boolean
      /** Null where an earlier try got so far, and the forge lets nothing in that was not tested. */
      readonly gate: Gate | null
    }
  /** `content` is a commit whose files have both sides, marked. */
  | {
      readonly kind: 'conflicted'
      readonly onto: string
      readonly content: string
      readonly conflicts: readonly Conflict[]
      readonly further: FurtherConflicts
    }
  /** `content` is the commit that the gate saw. */
  | {
      readonly kind: 'gate_failed'
      readonly onto: string
      readonly content: string
      readonly gate: Gate
    }
  /** The branch is not at the reviewed commit any more, or the pull request is closed. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'nothing_to_merge'; readonly onto: string }
  | { readonly kind: 'forge_failed'; readonly error: ForgeError }

/** What a merge needs of the world. */
export interface MergeParts<Gate> {
  readonly git: Git
  readonly repositories: Repositories
  readonly forge: Forge
  /** Tests a commit of the mirror before it becomes the target. */
  gate(
    commit: string,
    signal: AbortSignal,
  ): Promise<{ readonly passed: boolean; readonly gate: Gate }>
}

/** Each time somebody else moved the target meanwhile, everything is done once more. */
const ROUNDS_MAX = 5

/** How often checks that do not show yet are looked for. */
const GRACE_LOOK_MS = 2_000

/**
 * Merges exactly the reviewed commit onto the target, after the gate has passed on the result. May
 * be cut off at any step and done again: a story is merged at most once. Two must not run at once.
 */
export async function mergeStory<Gate>(
  parts: MergeParts<Gate>,
  merge: StoryMerge,
  signal: AbortSignal,
): Promise<MergeOutcome<Gate>> {
  guardGit('commit', merge.head)
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const target = await parts.forge.readTarget(merge.target, signal)
    if (!target.ok) return { kind: 'forge_failed', error: target.error }
    const outcome = await mergeOnto(parts, merge, target.value, signal)
    if (outcome !== 'moved') return outcome
  }
  const message = `${merge.target} moved ${ROUNDS_MAX} times while it was merged onto`
  return { kind: 'forge_failed', error: { code: 'diverged', message, retry: 'later' } }
}

async function mergeOnto<Gate>(
  parts: MergeParts<Gate>,
  merge: StoryMerge,
  onto: string,
  signal: AbortSignal,
): Promise<MergeOutcome<Gate> | 'moved'> {
  const { git, repositories } = parts
  const { mirror, work } = repositories
  const sought = { mergeCommit: merge.head, reviewedHead: merge.head }
  const earlier = await findMergedCommit(git, work, onto, sought)
  if (earlier !== undefined) return finishLanding(parts, merge, earlier, null, signal)
  const [{ tree, conflicts, further }, [treeBefore]] = await Promise.all([
    mergeTrees(git, repositories, onto, merge.head),
    findObjects(git, work, [`${onto}^{tree}`]),
  ])
  if (tree === treeBefore && conflicts.length === 0) return { kind: 'nothing_to_merge', onto }
  const commit = await commitTree(git, work, tree, onto, merge)
  if (conflicts.length > 0) return { kind: 'conflicted', onto, content: commit, conflicts, further }
  await bring(git, work, mirror, commit)
  const { passed, gate } = await parts.gate(commit, signal)
  if (!passed) return { kind: 'gate_failed', onto, content: commit, gate }
  const hindrance = await clear(parts.forge, merge, signal)
  return hindrance ?? finishLanding(parts, merge, commit, gate, signal)
}

/**
 * Puts a commit on the target. A forge that takes no expected target may have merged onto another
 * than the one that was tested: what it holds then is tested now, and the outcome says so.
 */
async function finishLanding<Gate>(
  parts: MergeParts<Gate>,
  merge: StoryMerge,
  commit: string,
  gate: Gate | null,
  signal: AbortSignal,
): Promise<MergeOutcome<Gate> | 'moved'> {
  const outcome = await land(parts, merge, commit, gate, signal)
  if (outcome === 'moved' || outcome.kind !== 'merged') return outcome
  // Of an earlier try nobody knows what it had tested.
  const isProven = outcome.asTested && (gate !== null || parts.forge.kind === 'local')
  if (isProven) return outcome
  const { mirror, work } = parts.repositories
  await bring(parts.git, work, mirror, outcome.commit)
  const tested = await parts.gate(outcome.commit, signal)
  return { ...outcome, gate: tested.gate }
}

/**
 * Records the review of exactly this commit at the forge, and waits for the forge's own checks of
 * it. Undefined when nothing stands in the way any more.
 */
async function clear(
  forge: Forge,
  { number, head, target }: StoryMerge,
  signal: AbortSignal,
): Promise<Exclude<MergeOutcome<never>, { kind: 'merged' | 'gate_failed' }> | undefined> {
  const body = 'Reviewed by the architect; the tests pass on the merged tree.'
  const review = { number, commit: head, verdict: 'approved', body } as const
  const reviewed = await forge.review(review, signal)
  if (!reviewed.ok) return { kind: 'forge_failed', error: reviewed.error }
  if (reviewed.value.kind === 'moved') {
    return {
      kind: 'refused',
      reason: `the branch is at ${reviewed.value.head}, which nobody reviewed`,
    }
  }
  const graceEndMs = performance.now() + forge.checksGraceMs
  for (;;) {
    const checks = await forge.readChecks({ commit: head, target }, signal)
    if (!checks.ok) return { kind: 'forge_failed', error: checks.error }
    if (checks.value.kind === 'failed') {
      const names = checks.value.failures.map(({ name }) => name).join(', ')
      return { kind: 'refused', reason: `checks of the forge failed: ${names}` }
    }
    if (checks.value.kind === 'passed') return undefined
    // What starts checks does so when it hears of the commit, which takes a while.
    const graceMs = graceEndMs - performance.now()
    const isPending = checks.value.kind === 'pending'
    if (!isPending && graceMs <= 0) return undefined
    const waitMs = isPending ? checks.value.retryAfterMs : Math.min(graceMs, GRACE_LOOK_MS)
    await sleep(waitMs, undefined, { signal })
  }
}

async function land<Gate>(
  { git, repositories, forge }: MergeParts<Gate>,
  { number, head }: StoryMerge,
  mergeCommit: string,
  gate: Gate | null,
  signal: AbortSignal,
): Promise<MergeOutcome<Gate> | 'moved'> {
  const [onto = mergeCommit] = await findObjects(git, repositories.work, [`${mergeCommit}^1`])
  const request = { number, reviewedHead: head, mergeCommit, expectedTarget: onto }
  const answer = await forge.merge(request, signal)
  if (!answer.ok) return { kind: 'forge_failed', error: answer.error }
  const { value } = answer
  switch (value.kind) {
    case 'merged':
      return { kind: 'merged', commit: value.mergeCommit, onto, asTested: value.asTested, gate }
    case 'moved':
      if (value.what === 'target') return 'moved'
      return { kind: 'refused', reason: `the branch is at ${value.at}, which nobody reviewed` }
    case 'closed':
      return { kind: 'refused', reason: 'the pull request is closed' }
    default:
      return { kind: 'refused', reason: value.reason }
  }
}

/** The same request gives the same commit, so that a repeated try makes nothing new. */
async function commitTree(
  git: Git,
  repository: string,
  tree: string,
  onto: string,
  { owner, head, title, body, atMs }: StoryMerge,
): Promise<string> {
  const trailers = [
    `Slipway-Run: ${owner.run}`,
    `Slipway-Story: ${owner.story}`,
    `Slipway-Head: ${head}`,
  ]
  // A text that carries trailers of its own would prove something about another story.
  const words = body.replace(/^\s*(?=slipway-\w+\s*:)/gim, '> ').trim()
  const message = [oneLine(title), '', ...(words === '' ? [] : [words, '']), ...trailers]
  // Git takes no message with one in it, whoever wrote it.
  const stdin = `${message.join('\n').replaceAll('\0', '')}\n`
  const date = `${Math.floor(atMs / 1000)} +0000`
  const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
  const args = ['commit-tree', tree, '-p', onto, '-F', '-']
  return (await git.run(args, { repository, stdin, env })).text
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim() || 'Untitled'
}

/** Copies a commit to the mirror; no branch of it changes. */
async function bring(git: Git, work: string, mirror: string, commit: string): Promise<void> {
  const flags = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance']
  const refs = `+${commit}:refs/slipway/gate`
  await git.run(['fetch', ...flags, '--end-of-options', work, refs], { repository: mirror })
}
