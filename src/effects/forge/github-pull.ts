import { guardGit } from '../guards/git-guard.ts'
import type { PullRequest } from './forge.ts'

/** A pull request as GitHub has it. */
export interface GithubPull {
  readonly pull: PullRequest
  /** Whether it merges without a conflict; null while GitHub is finding out. */
  readonly isMergeable: boolean | null
}

/** What we read of GitHub's answer; a list leaves out the last two. */
interface PullData {
  readonly number: number
  readonly title: string
  readonly state: string
  readonly html_url: string
  readonly merged_at: string | null
  readonly merge_commit_sha: string | null
  readonly head: { readonly ref: string; readonly sha: string }
  readonly base: { readonly ref: string }
  readonly mergeable?: boolean | null
}

/** Reads a pull request. Throws where the answer is not one of GitHub's. */
export function readGithubPull(data: PullData): GithubPull {
  const { number, title, html_url, head, base, mergeable } = data
  if (!Number.isSafeInteger(number)) throw new Error('a pull request has a number')
  const state = data.merged_at ? 'merged' : data.state === 'open' ? 'open' : 'closed'
  const pull: PullRequest = {
    number,
    branch: String(head.ref),
    target: String(base.ref),
    head: guardGit('commit', head.sha),
    title: String(title),
    state,
    // While it is open, this is a trial merge that nobody has asked for.
    mergeCommit: state === 'merged' ? guardGit('commit', data.merge_commit_sha ?? '') : null,
    url: /^https?:\/\//.test(html_url) ? html_url : null,
  }
  return { pull, isMergeable: mergeable ?? null }
}
