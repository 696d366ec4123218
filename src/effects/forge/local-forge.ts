import { hasRef } from '../git/damage.ts'
import type { Git } from '../git/git.ts'
import { notedTargetRef } from '../git/lost-mirror.ts'
import { isAncestor } from '../git/objects.ts'
import { changeRefs, readRef } from '../git/refs.ts'
import type { Repositories } from '../git/repositories.ts'
import { guardGit } from '../guards/git-guard.ts'
import type {
  BranchDeletion,
  BranchHead,
  Forge,
  Merge,
  MergeRequest,
  Published,
  PullRequest,
  PullRequestDraft,
  Review,
  Reviewed,
} from './forge.ts'
import { answer, ForgeFailure } from './forge-failure.ts'
import { findMergedCommit } from './merged-commit.ts'
import {
  openPullRequestRecords,
  type PullRequestRecord,
  type PullRequestRecords,
} from './pull-request-records.ts'
import { copiesInGit } from './record-copies.ts'
import { branchRef, bringBack, deleteWorkBranch, keepHead, storyRef } from './story-branch.ts'

export interface LocalForgeParts {
  readonly git: Git
  /** Branches of stories are in `work`, their targets in `mirror`. */
  readonly repositories: Pick<Repositories, 'mirror' | 'work'>
  /** Where pull requests are kept. */
  readonly folder: string
  /** Is told what was damaged and what became of it. */
  report?(line: string): void
}

/**
 * Opens the forge that needs no other machine: pull requests are records in a folder, and a merge
 * moves the target of the mirror.
 */
export async function openLocalForge(parts: LocalForgeParts): Promise<Forge> {
  const copies = copiesInGit(parts.git, parts.repositories.work)
  const report = parts.report ?? (() => {})
  const records = await openPullRequestRecords(parts.folder, copies, report)
  const forge = new LocalForge(parts, records)
  let last: Promise<unknown> = Promise.resolve()
  /** One change at a time: a record that is read is still true when it is written. */
  const inTurn = <T>(work: () => Promise<T>) => {
    const next = last.then(() => answer(work))
    last = next.catch(() => {})
    return next
  }
  return {
    kind: 'local',
    publish: (branch) => answer(() => forge.publish(branch)),
    openPullRequest: (draft) => inTurn(() => forge.open(draft)),
    readPullRequest: (number) => answer(() => forge.read(number)),
    review: (review) => inTurn(() => forge.review(review)),
    checksGraceMs: 0,
    readChecks: async () => ({ ok: true, value: { kind: 'none' } }),
    merge: (request) => inTurn(() => forge.merge(request)),
    deleteBranch: (branch) => inTurn(() => forge.deleteBranch(branch)),
    readTarget: (target) => answer(() => forge.readTarget(target)),
    probe: async () => true,
  }
}

class LocalForge {
  readonly #git: Git
  readonly #mirror: string
  readonly #work: string
  readonly #records: PullRequestRecords

  constructor({ git, repositories }: LocalForgeParts, records: PullRequestRecords) {
    this.#git = git
    this.#mirror = repositories.mirror
    this.#work = repositories.work
    this.#records = records
  }

  async publish(branch: BranchHead): Promise<Published> {
    const ref = storyRef(branch)
    const known = this.#records.find(
      ({ state, ...each }) =>
        state === 'open' && each.branch === branch.branch && each.head === branch.head,
    )
    const head = await this.#requireHead(ref, known)
    return head === branch.head ? { kind: 'published' } : { kind: 'moved', head }
  }

  async open({ branch, target, head, title, body }: PullRequestDraft): Promise<PullRequest> {
    const ref = storyRef({ branch, head })
    await this.readTarget(target)
    const found = this.#records.find(
      (record) =>
        record.branch === branch &&
        record.target === target &&
        (record.state === 'open' || (record.state === 'merged' && record.head === head)),
    )
    if (found?.state === 'merged') return this.#show(found)
    const at = await this.#requireHead(ref, found)
    if (at !== head) throw new ForgeFailure('invalid', `${branch} is at ${at}, not at ${head}`)
    const number = found?.number ?? this.#records.nextNumber()
    await keepHead(this.#git, this.#work, number, head)
    const fresh = { number, branch, target, title, body, state: 'open', reviews: [] } as const
    const record = { ...fresh, mergeCommit: null, ...found, head }
    if (found?.head !== head) await this.#records.write(record)
    return this.#show(record)
  }

  async read(number: number): Promise<PullRequest> {
    return this.#show(this.#require(number))
  }

  async review({ number, commit, verdict, body }: Review): Promise<Reviewed> {
    guardGit('commit', commit)
    const record = this.#require(number)
    const { head } = await this.#show(record)
    if (head !== commit) return { kind: 'moved', head }
    const isSame = (other: Omit<Review, 'number'>) =>
      other.commit === commit && other.verdict === verdict && other.body === body
    if (!record.reviews.some(isSame)) {
      const reviews = [...record.reviews, { commit, verdict, body }]
      await this.#records.write({ ...record, reviews })
    }
    return { kind: 'recorded', as: 'verdict' }
  }

  /**
   * The target moves first, and by that alone the story is merged. A crash after it leaves a branch
   * and an open record, which the next try finds and puts right.
   */
  async merge(request: MergeRequest): Promise<Merge> {
    const { number, reviewedHead, mergeCommit, expectedTarget } = request
    for (const commit of [reviewedHead, mergeCommit, expectedTarget]) guardGit('commit', commit)
    const record = this.#require(number)
    const target = await this.readTarget(record.target)
    if (record.mergeCommit !== null && record.head === reviewedHead) {
      const merged = { kind: 'merged', mergeCommit: record.mergeCommit, asTested: true } as const
      if (!(await this.#isUndone(record))) return merged
    } else if (record.state !== 'open') return { kind: 'closed' }
    const earlier = await findMergedCommit(this.#git, this.#work, target, request)
    if (earlier !== undefined) return this.#conclude(record, reviewedHead, earlier)
    const head = await this.#requireHead(branchRef(record.branch), record)
    if (head !== reviewedHead) return { kind: 'moved', what: 'head', at: head }
    if (target !== expectedTarget) return { kind: 'moved', what: 'target', at: target }
    await this.#bringToMirror(request)
    const change = { ref: branchRef(record.target), to: mergeCommit, from: expectedTarget }
    if (await changeRefs(this.#git, this.#mirror, [change])) {
      return this.#conclude(record, reviewedHead, mergeCommit)
    }
    return { kind: 'moved', what: 'target', at: await this.readTarget(record.target) }
  }

  /** With its branch, an open pull request is closed: nothing of it can be merged any more. */
  async deleteBranch(branch: BranchHead): Promise<BranchDeletion> {
    const deletion = await deleteWorkBranch(this.#git, this.#work, branch)
    const record = this.#records.find(
      (each) => each.state === 'open' && each.branch === branch.branch && each.head === branch.head,
    )
    if (deletion.kind === 'deleted' && record !== undefined) {
      await this.#records.write({ ...record, state: 'closed' })
    }
    return deletion
  }

  async readTarget(target: string): Promise<string> {
    const ref = branchRef(target)
    const commit = await readRef(this.#git, this.#mirror, ref)
    if (commit !== undefined) return commit
    const noted = notedTargetRef(target)
    if (await hasRef(this.#work, noted)) {
      const message = `the branch ${target} of ${this.#mirror} is lost, with the stories that were merged into it; the start of the engine says what to do`
      throw new ForgeFailure('storage', message)
    }
    // It was lost with a mirror that is made again, or given up: it begins anew at the user's.
    const tip = await readRef(this.#git, this.#mirror, `refs/origin/heads/${target}`)
    if (tip !== undefined) {
      await changeRefs(this.#git, this.#mirror, [{ ref, to: tip, from: null }])
      return tip
    }
    throw new ForgeFailure('not_found', `there is no branch ${target}`)
  }

  #require(number: number): PullRequestRecord {
    const record = this.#records.get(number)
    if (record !== undefined) return record
    throw new ForgeFailure('not_found', `there is no pull request ${number}`)
  }

  /** Where a branch is. One that got lost after it was handed in comes back. */
  async #requireHead(ref: string, record: PullRequestRecord | undefined): Promise<string> {
    const head = await readRef(this.#git, this.#work, ref)
    if (head !== undefined) return head
    const isWanted = record !== undefined && record.state !== 'closed'
    const kept = isWanted
      ? await bringBack(this.#git, this.#work, record.number, record)
      : undefined
    if (kept !== undefined) return kept
    throw new ForgeFailure('not_found', `there is no ${ref}`)
  }

  /** While it is open, a pull request follows its branch. */
  async #show(record: PullRequestRecord): Promise<PullRequest> {
    const { number, branch, target, title } = record
    const isOpen = record.state === 'open' || (await this.#isUndone(record))
    const live = isOpen ? await readRef(this.#git, this.#work, branchRef(branch)) : undefined
    const head = live ?? record.head
    const [state, mergeCommit] = isOpen
      ? (['open', null] as const)
      : [record.state, record.mergeCommit]
    return { number, branch, target, head, title, state, mergeCommit, url: null }
  }

  /** Whether a merge is not on its target: that was lost, and began anew without it. */
  async #isUndone({ mergeCommit, target }: PullRequestRecord): Promise<boolean> {
    if (mergeCommit === null) return false
    return !(await isAncestor(this.#git, this.#mirror, mergeCommit, branchRef(target)))
  }

  /** The mirror lends its objects to the work, and borrows none. */
  async #bringToMirror({ mergeCommit, expectedTarget }: MergeRequest): Promise<void> {
    const parents = ['rev-parse', '--verify', '--end-of-options', `${mergeCommit}^@`]
    const flags = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance']
    const fetch = ['fetch', ...flags, '--end-of-options', this.#work, mergeCommit]
    const [{ text }, { exitCode }] = await Promise.all([
      this.#git.run(parents, { repository: this.#work, accept: [0, 128] }),
      this.#git.run(fetch, { repository: this.#mirror, accept: [0, 1, 128] }),
    ])
    if (text !== expectedTarget) {
      throw new ForgeFailure('invalid', `${mergeCommit} does not stand on ${expectedTarget} alone`)
    }
    if (exitCode === 0) return
    throw new ForgeFailure('storage', `the mirror could not take ${mergeCommit}`)
  }

  async #conclude(record: PullRequestRecord, head: string, mergeCommit: string): Promise<Merge> {
    const target = await readRef(this.#git, this.#mirror, branchRef(record.target))
    const noted = { ref: notedTargetRef(record.target), to: target ?? mergeCommit }
    await keepHead(this.#git, this.#work, record.number, head, [noted])
    await deleteWorkBranch(this.#git, this.#work, { branch: record.branch, head })
    await this.#records.write({ ...record, head, state: 'merged', mergeCommit })
    return { kind: 'merged', mergeCommit, asTested: true }
  }
}
