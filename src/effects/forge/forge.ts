/** Where stories are handed in, reviewed and merged: a forge, or records on this machine. */
export interface Forge {
  readonly kind: 'local' | 'github'

  /** How long checks that nothing requires may take to show; 0 where the forge has none of its own. */
  readonly checksGraceMs: number

  /** Makes the head of a branch known to the forge. Never overwrites what others have added. */
  publish(branch: BranchHead, signal?: AbortSignal): Promise<ForgeAnswer<Published>>

  /** Opens a pull request for a published branch, or finds the one that an earlier try opened. */
  openPullRequest(draft: PullRequestDraft, signal?: AbortSignal): Promise<ForgeAnswer<PullRequest>>

  readPullRequest(number: number, signal?: AbortSignal): Promise<ForgeAnswer<PullRequest>>

  /** Records a review of exactly one commit. The same review twice is one review. */
  review(review: Review, signal?: AbortSignal): Promise<ForgeAnswer<Reviewed>>

  /** How the forge's own checks of a commit, which is to come into a target, stand at this moment. */
  readChecks(subject: CheckSubject, signal?: AbortSignal): Promise<ForgeAnswer<Checks>>

  /**
   * Merges exactly the reviewed commit, as one commit. When an earlier try did that already, the
   * answer is the same. Afterwards the target of the mirror holds the merge, and the branch is gone.
   */
  merge(request: MergeRequest, signal?: AbortSignal): Promise<ForgeAnswer<Merge>>

  /** Deletes an unmerged branch if it still is at that head; one that is gone is as good. */
  deleteBranch(branch: BranchHead, signal?: AbortSignal): Promise<ForgeAnswer<BranchDeletion>>

  /** Brings the target of the mirror in step with the forge, and says where it is. */
  readTarget(target: string, signal?: AbortSignal): Promise<ForgeAnswer<string>>

  /** Whether the forge answers. */
  probe(signal: AbortSignal): Promise<boolean>
}

/** What a forge answers. No operation of a forge rejects. */
export type ForgeAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ForgeError }

/** Why a forge could not be asked, and whether asking again can help. */
export interface ForgeError {
  readonly code: ForgeErrorCode
  /** For people. Holds no secret. */
  readonly message: string
  readonly retry: 'never' | 'later'
  /** What was wanting, where that is not the forge. */
  readonly service?: string
  /** How long the forge asked to be left alone. */
  readonly retryAfterMs?: number
}

export type ForgeErrorCode =
  | 'rate_limited'
  | 'unauthorized'
  | 'not_found'
  | 'network'
  | 'server_error'
  | 'invalid'
  /** Somebody rewrote a branch that others build on; a person has to look. */
  | 'diverged'
  /** What this machine has stored cannot be read or written. */
  | 'storage'
  | 'aborted'

/** A branch of a story, and the commit that it should be at. */
export interface BranchHead {
  /** Begins with `slipway/`: a forge touches no other branch. */
  readonly branch: string
  readonly head: string
}

export type Published =
  | { readonly kind: 'published' }
  /** The branch is at a commit that is not ours. */
  | { readonly kind: 'moved'; readonly head: string }

export interface PullRequestDraft extends BranchHead {
  readonly target: string
  readonly title: string
  readonly body: string
}

export interface PullRequest extends BranchHead {
  readonly number: number
  readonly target: string
  readonly title: string
  readonly state: 'open' | 'merged' | 'closed'
  /** The commit on the target; null unless merged. */
  readonly mergeCommit: string | null
  /** Where a person can look at it; null where there is no such place. */
  readonly url: string | null
}

export interface Review {
  readonly number: number
  readonly commit: string
  readonly verdict: 'approved' | 'changes_requested'
  readonly body: string
}

export type Reviewed =
  /** As a comment where the forge does not let an author judge: nobody approves their own. */
  | { readonly kind: 'recorded'; readonly as: 'verdict' | 'comment' }
  | { readonly kind: 'moved'; readonly head: string }

interface CheckSubject {
  readonly commit: string
  readonly target: string
}

export type Checks =
  | { readonly kind: 'none' }
  /** Those that show have passed; these are required or announced, and do not show yet. */
  | { readonly kind: 'expected'; readonly names: readonly string[] }
  | { readonly kind: 'passed' }
  | { readonly kind: 'pending'; readonly names: readonly string[]; readonly retryAfterMs: number }
  | { readonly kind: 'failed'; readonly failures: readonly FailedCheck[] }

export interface FailedCheck {
  readonly name: string
  readonly url: string | null
}

export interface MergeRequest {
  readonly number: number
  /** The head that was reviewed; nothing else is merged. */
  readonly reviewedHead: string
  /** The squashed commit that was tested. It has one parent, which is `expectedTarget`. */
  readonly mergeCommit: string
  /** Where the target was when that commit was made. */
  readonly expectedTarget: string
}

export type Merge =
  /** `asTested`: whether the target holds the very tree that was tested. */
  | { readonly kind: 'merged'; readonly mergeCommit: string; readonly asTested: boolean }
  /** The branch or the target is elsewhere by now. */
  | { readonly kind: 'moved'; readonly what: 'head' | 'target'; readonly at: string }
  | { readonly kind: 'conflicted'; readonly reason: string }
  /** The forge's rules forbid it for now: a missing approval, a missing check. */
  | { readonly kind: 'blocked'; readonly reason: string }
  /** Somebody closed it, or merged another head. */
  | { readonly kind: 'closed' }

export type BranchDeletion =
  | { readonly kind: 'deleted' }
  | { readonly kind: 'moved'; readonly head: string }
