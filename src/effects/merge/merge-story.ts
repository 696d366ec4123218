import { setTimeout as sleep } from 'node:timers/promises'
import type { Checks, Forge, ForgeError, PullRequest } from '../forge/forge.ts'
import { readDeliveries } from '../forge/merged-commit.ts'
import { fitMessage } from '../git/commit-message.ts'
import type { Git } from '../git/git.ts'
import { isAncestor } from '../git/objects.ts'
import type { Repositories } from '../git/repositories.ts'
import { guardGit } from '../guards/git-guard.ts'
import { redact } from '../guards/redaction.ts'
import { type Owner, placeOf } from '../workspace/place.ts'
import { type Conflict, type FurtherConflicts, nameOf } from './conflict.ts'
import { fit, reportConflicts } from './conflict-report.ts'
import { type MergedTree, mergeTrees } from './merge-tree.ts'
import {
  forgetUnsettled,
  foundOf,
  type Judged,
  judge,
  keepUnsettled,
  openConflictOf,
} from './unsettled.ts'

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
      readonly gate: Gate
      /** Files of a conflict that are as git had left them, because their coder decided so. */
      readonly asLeft?: readonly string[]
    }
  /** The story is on the target, from another head. This one was not merged, and its branch is gone. */
  | { readonly kind: 'already_merged'; readonly commit: string; readonly head: string }
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
  /** Values that no message and no outcome may hold. */
  readonly secrets?: readonly string[]
  /** How long checks of the forge are waited for; 45 minutes unless said. */
  readonly checksWaitMsMax?: number
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
export const CHECKS_WAIT_MS_MAX = 2_700_000

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
    const pull = await parts.forge.readPullRequest(merge.number, signal)
    if (!pull.ok) return { kind: 'forge_failed', error: pull.error }
    const outcome = await mergeOnto(parts, merge, target.value, pull.value, signal)
    if (outcome !== 'moved') return outcome
  }
  const message = `${merge.target} moved ${ROUNDS_MAX} times while it was merged onto`
  return { kind: 'forge_failed', error: { code: 'diverged', message, retry: 'later' } }
}

async function mergeOnto<Gate>(
  parts: MergeParts<Gate>,
  merge: StoryMerge,
  onto: string,
  pull: PullRequest,
  signal: AbortSignal,
): Promise<MergeOutcome<Gate> | 'moved'> {
  const { git, repositories } = parts
  const { mirror, work } = repositories
  const [deliveries, merged, judged, [treeBefore]] = await Promise.all([
    readDeliveries(git, work, onto, merge.head),
    mergeTrees(git, work, onto, merge.head),
    judge(git, work, onto, merge),
    git.find(work, [`${onto}^{tree}`]),
  ])
  const finish = (commit: string, gate: Gate | null) =>
    finishLanding(parts, merge, { commit, gate, judged }, signal)
  const earlier = deliveries.find(({ head }) => head === merge.head)
  if (earlier !== undefined) return finish(earlier.commit, null)
  const { run, story } = merge.owner
  const other = deliveries.find((delivery) => delivery.run === run && delivery.story === story)
  if (other !== undefined) return retire(parts, merge, other, signal)
  if (pull.target !== merge.target)
    return { kind: 'refused', reason: pointedElsewhere(pull, merge) }
  if (pull.state !== 'open') return takeOver(parts, merge, pull, finish, signal)
  if (merged.found.length + judged.left.length > 0) return refer(parts, merge, onto, merged, judged)
  if (merged.tree === treeBefore) {
    const isThere = await isAncestor(git, work, merge.head, onto)
    return isThere ? finish(merge.head, null) : { kind: 'nothing_to_merge', onto }
  }
  const commit = await commitTree(parts, merged.tree, onto, merge)
  await bring(git, work, mirror, commit)
  const { passed, gate } = await parts.gate(commit, signal)
  if (!passed) return { kind: 'gate_failed', onto, content: commit, gate }
  const hindrance = await clear(parts, merge, signal)
  return hindrance ?? finish(commit, gate)
}

/** Gives conflicts back to the coder, those of before that were not settled among them. */
async function refer<Gate>(
  parts: MergeParts<Gate>,
  merge: StoryMerge,
  onto: string,
  { tree, found }: MergedTree,
  judged: Judged,
): Promise<MergeOutcome<Gate>> {
  const { git, repositories, secrets = [] } = parts
  const known = new Set(found.map(({ path }) => path))
  const left = judged.left.filter(({ conflict }) => !known.has(conflict.path))
  const all = [...left.map(foundOf), ...found]
  const clean = (text: string) => redact(text, secrets)
  const report = await reportConflicts(git, repositories, tree, all, clean)
  const content = await commitTree(parts, tree, onto, merge)
  const told = left.map(({ conflict }) => ({ ...conflict, isTold: true }))
  const conflicts = [...told, ...found.map(openConflictOf)]
  const decided = judged.decided.filter((path) => !known.has(path))
  await keepUnsettled(git, repositories.work, merge, content, conflicts, { ...judged, decided })
  return { kind: 'conflicted', onto, content, ...report }
}

/** What is merged into another branch is not in the one that the other stories are made on. */
function pointedElsewhere({ number, target, state }: PullRequest, merge: StoryMerge): string {
  const what = state === 'merged' ? 'merged' : 'pointed'
  return `somebody ${what} pull request ${number} into ${target}, and the story is for ${merge.target}; point it at ${merge.target} there, or bring it there by hand, and have the story tried again`
}

/**
 * What a person did to the pull request stands, whatever the trees say. What they merged is tested
 * as it is on the target now; what they closed is theirs to open again.
 */
async function takeOver<Gate>(
  parts: MergeParts<Gate>,
  merge: StoryMerge,
  { number, state, head, mergeCommit }: PullRequest,
  finish: (commit: string, gate: null) => Promise<MergeOutcome<Gate> | 'moved'>,
  signal: AbortSignal,
): Promise<MergeOutcome<Gate> | 'moved'> {
  if (state !== 'merged' || mergeCommit === null) {
    const reason = `somebody closed pull request ${number} without merging it; open it again there, and have the story tried again`
    return { kind: 'refused', reason }
  }
  if (head !== merge.head) return retire(parts, merge, { commit: mergeCommit, head }, signal)
  const outcome = await finish(mergeCommit, null)
  // The gate had not seen this tree when it became the target.
  return outcome !== 'moved' && outcome.kind === 'merged'
    ? { ...outcome, asTested: false }
    : outcome
}

/**
 * A story is merged once. A head that stands on that merge was made in the knowledge of it and is a
 * further delivery; one that parted from the target before it is left out, and its branch goes.
 */
async function retire<Gate>(
  { forge }: MergeParts<Gate>,
  { owner, head }: StoryMerge,
  { commit, head: delivered }: { readonly commit: string; readonly head: string },
  signal: AbortSignal,
): Promise<MergeOutcome<Gate>> {
  const { branch } = placeOf('', owner)
  const deleted = await forge.deleteBranch({ branch, head }, signal)
  if (!deleted.ok) return { kind: 'forge_failed', error: deleted.error }
  return { kind: 'already_merged', commit, head: delivered }
}

/**
 * Puts a commit on the target. A forge that takes no expected target may have merged onto another
 * than the one that was tested: what it holds then is tested now, and the outcome says so.
 */
async function finishLanding<Gate>(
  parts: MergeParts<Gate>,
  merge: StoryMerge,
  { commit, gate, judged }: { commit: string; gate: Gate | null; judged: Judged },
  signal: AbortSignal,
): Promise<MergeOutcome<Gate> | 'moved'> {
  const landed = await land(parts, merge, commit, signal)
  if (landed === 'moved' || landed.kind !== 'landed') return landed
  const { mirror, work } = parts.repositories
  const asLeft = nameLeft(judged, parts.secrets)
  const outcome = { ...landed, kind: 'merged' as const, ...(asLeft.length > 0 && { asLeft }) }
  await forgetUnsettled(parts.git, work, merge.owner)
  if (outcome.asTested && gate !== null) return { ...outcome, gate }
  // What an earlier try had tested was lost with it, and nothing is done without a test run.
  await bring(parts.git, work, mirror, outcome.commit)
  const tested = await parts.gate(outcome.commit, signal)
  return { ...outcome, gate: tested.gate }
}

/** What of the files that were left as git had them fits an outcome, beside what the gate said. */
const AS_LEFT_BYTES_MAX = 20_000

function nameLeft({ decided }: Judged, secrets: readonly string[] = []): readonly string[] {
  const names = decided.map((path) => redact(nameOf(path), secrets))
  const fitting = fit(names, AS_LEFT_BYTES_MAX)
  const others = names.length - fitting.length
  return others === 0 ? names : [...fitting, `and ${others} more, whose names do not fit here`]
}

/**
 * Records the review of exactly this commit at the forge, and waits for the forge's own checks of
 * it. Undefined when nothing stands in the way any more.
 */
async function clear<Gate>(
  { forge, checksWaitMsMax = CHECKS_WAIT_MS_MAX }: MergeParts<Gate>,
  { number, head, target }: StoryMerge,
  signal: AbortSignal,
): Promise<MergeOutcome<Gate> | undefined> {
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
  const startedMs = performance.now()
  for (;;) {
    const checks = await forge.readChecks({ commit: head, target }, signal)
    if (!checks.ok) return { kind: 'forge_failed', error: checks.error }
    const { value } = checks
    if (value.kind === 'failed') {
      const names = value.failures.map(({ name }) => name).join(', ')
      return { kind: 'refused', reason: `checks of the forge failed: ${names}` }
    }
    if (value.kind === 'passed') return undefined
    // What starts checks does so when it hears of the commit, which takes a while. Where none is
    // required, none may ever show; one that is required or under way is waited for.
    const waitMsMax = value.kind === 'none' ? forge.checksGraceMs : checksWaitMsMax
    const leftMs = startedMs + waitMsMax - performance.now()
    if (leftMs <= 0) return value.kind === 'none' ? undefined : overdue(value)
    const lookMs = value.kind === 'pending' ? value.retryAfterMs : GRACE_LOOK_MS
    await sleep(Math.min(leftMs, lookMs), undefined, { signal })
  }
}

function overdue({ kind, names }: Extract<Checks, { kind: 'expected' | 'pending' }>) {
  const what = kind === 'expected' ? 'never showed' : 'did not end in time'
  return { kind: 'refused', reason: `checks of the forge ${what}: ${names.join(', ')}` } as const
}

/** A commit that is on the target. */
interface Landed {
  readonly kind: 'landed'
  readonly commit: string
  readonly onto: string
  readonly asTested: boolean
}

async function land<Gate>(
  { git, repositories, forge }: MergeParts<Gate>,
  { number, head }: StoryMerge,
  mergeCommit: string,
  signal: AbortSignal,
): Promise<Exclude<MergeOutcome<Gate>, { kind: 'merged' }> | Landed | 'moved'> {
  const [onto = mergeCommit] = await git.find(repositories.work, [`${mergeCommit}^1`])
  const request = { number, reviewedHead: head, mergeCommit, expectedTarget: onto }
  const answer = await forge.merge(request, signal)
  if (!answer.ok) return { kind: 'forge_failed', error: answer.error }
  const { value } = answer
  switch (value.kind) {
    case 'merged':
      return { kind: 'landed', commit: value.mergeCommit, onto, asTested: value.asTested }
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
async function commitTree<Gate>(
  { git, repositories, secrets = [] }: MergeParts<Gate>,
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
  const words = redact(fitMessage(body), secrets)
    .replace(/^\s*(?=slipway-\w+\s*:)/gim, '> ')
    .trim()
  const subject = oneLine(redact(fitMessage(title), secrets))
  const message = [subject, '', ...(words === '' ? [] : [words, '']), ...trailers]
  const stdin = `${message.join('\n')}\n`
  // Without the sign, git takes a small number for a date of another form.
  const date = `@${Math.floor(atMs / 1000)} +0000`
  const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
  const args = ['commit-tree', tree, '-p', onto, '-F', '-']
  return (await git.run(args, { repository: repositories.work, stdin, env })).text
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
