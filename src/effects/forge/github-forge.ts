import { createHash } from 'node:crypto'
import type { Git } from '../git/git.ts'
import { isAncestor } from '../git/objects.ts'
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
import { type GithubApi, openGithubApi } from './github-api.ts'
import { readGithubChecks, sumUp } from './github-checks.ts'
import { readExpected } from './github-expected-checks.ts'
import { GithubFailure } from './github-failure.ts'
import { GithubGit } from './github-git.ts'
import { type GithubPull, readGithubPull } from './github-pull.ts'
import type { GithubRepository } from './github-repository.ts'
import { haveSameTree } from './merged-commit.ts'
import { fitBody, fitTitle, quieten } from './outward-text.ts'
import { branchRef, deleteWorkBranch, keepHead, storyRef } from './story-branch.ts'

export interface GithubForgeParts {
  readonly git: Git
  readonly repositories: Pick<Repositories, 'mirror' | 'work'>
  readonly repository: GithubRepository
  readonly token: string
  /** The time limit of one request. */
  readonly timeoutMs?: number
  /** See `Forge`; 30 seconds unless said. */
  readonly checksGraceMs?: number
}

/** Opens a repository on GitHub as a forge. The token is kept out of every answer. */
export function openGithubForge(parts: GithubForgeParts): Forge {
  const { repository, token, timeoutMs } = parts
  const settings = { apiUrl: repository.apiUrl, token }
  const api = openGithubApi(timeoutMs === undefined ? settings : { ...settings, timeoutMs })
  const forge = new GithubForge(parts, api)
  const say = <T>(work: () => Promise<T>) => answer(work, [token])
  return {
    kind: 'github',
    checksGraceMs: parts.checksGraceMs ?? CHECKS_GRACE_MS,
    publish: (branch) => say(() => forge.publish(branch)),
    openPullRequest: (draft, signal) => say(() => forge.open(draft, signal)),
    readPullRequest: (number, signal) => say(async () => (await forge.read(number, signal)).pull),
    review: (review, signal) => say(() => forge.review(review, signal)),
    readChecks: ({ commit, target }, signal) =>
      say(async () => {
        const { owner, repo } = repository
        const address = { owner, repo, ref: guardGit('commit', commit) }
        branchRef(target)
        const checks = await readGithubChecks(api, address, signal)
        const sum = sumUp(checks)
        if (sum.kind !== 'none' && sum.kind !== 'passed') return sum
        const names = await readExpected(api, { ...address, target }, checks, signal)
        return names.length > 0 ? { kind: 'expected', names } : sum
      }),
    merge: (request, signal) => say(() => forge.merge(request, signal)),
    deleteBranch: (branch) => say(() => forge.deleteBranch(branch)),
    readTarget: (target) => say(() => forge.readTarget(target)),
    probe: (signal) => forge.probe(signal),
  }
}

class GithubForge {
  readonly #git: Git
  readonly #work: string
  readonly #remote: GithubGit
  readonly #api: GithubApi
  readonly #address: { readonly owner: string; readonly repo: string }

  constructor({ git, repositories, repository, token }: GithubForgeParts, api: GithubApi) {
    const { owner, repo, gitUrl } = repository
    this.#git = git
    this.#work = repositories.work
    this.#remote = new GithubGit({ git, repositories, gitUrl, token })
    this.#api = api
    this.#address = { owner, repo }
  }

  async publish(branch: BranchHead): Promise<Published> {
    const ref = storyRef(branch)
    const at = await this.#remote.readRemote(ref)
    if (at === branch.head) return { kind: 'published' }
    // What we do not have is not ours: somebody works on the branch, and keeps what they did.
    if (at !== undefined && !(await this.#remote.has(at))) return { kind: 'moved', head: at }
    if (await this.#remote.push(ref, at ?? null, branch.head)) return { kind: 'published' }
    const head = await this.#remote.readRemote(ref)
    if (head === branch.head) return { kind: 'published' }
    throw new ForgeFailure('server_error', `${branch.branch} is being changed by somebody else`)
  }

  async open(draft: PullRequestDraft, signal?: AbortSignal): Promise<PullRequest> {
    storyRef(draft)
    branchRef(draft.target)
    const found = (await this.#find(draft, signal)) ?? (await this.#create(draft, signal))
    // A push takes a moment to show.
    if (found.head === draft.head) return found
    throw new ForgeFailure('server_error', `${draft.branch} is still shown at ${found.head}`)
  }

  async #find(draft: PullRequestDraft, signal?: AbortSignal): Promise<PullRequest | undefined> {
    const { branch, target, head } = draft
    const route = 'GET /repos/{owner}/{repo}/pulls'
    const filter = { head: `${this.#address.owner}:${branch}`, base: target, state: 'all' } as const
    const pulls = await this.#api.call(
      (octokit, request) =>
        octokit.request(route, { ...this.#address, ...filter, per_page: 100, request }),
      (data) => data.map((each) => readGithubPull(each).pull),
      signal,
    )
    const ours = pulls.filter((pull) => pull.branch === branch && pull.target === target)
    const open = ours.find(({ state }) => state === 'open')
    return open ?? ours.find((pull) => pull.state === 'merged' && pull.head === head)
  }

  async #create(draft: PullRequestDraft, signal?: AbortSignal): Promise<PullRequest> {
    const text = { title: fitTitle(draft.title), body: fitBody(draft.body) }
    const ends = { head: draft.branch, base: draft.target }
    try {
      return await this.#api.call(
        (octokit, request) =>
          octokit.request('POST /repos/{owner}/{repo}/pulls', {
            ...this.#address,
            ...ends,
            ...text,
            request,
          }),
        (data) => readGithubPull(data).pull,
        signal,
      )
    } catch (cause) {
      // An answer that got lost was a success.
      const isThere = cause instanceof GithubFailure && cause.status === 422
      const found = isThere ? await this.#find(draft, signal) : undefined
      if (found === undefined) throw cause
      return found
    }
  }

  read(number: number, signal?: AbortSignal): Promise<GithubPull> {
    const pull_number = pullNumber(number)
    return this.#api.call(
      (octokit, request) =>
        octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
          ...this.#address,
          pull_number,
          request,
        }),
      readGithubPull,
      signal,
    )
  }

  async review(review: Review, signal?: AbortSignal): Promise<Reviewed> {
    const { number, commit, verdict } = review
    guardGit('commit', commit)
    const { pull } = await this.read(number, signal)
    if (pull.head !== commit) return { kind: 'moved', head: pull.head }
    const earlier = await this.#findReview(review, signal)
    if (earlier !== undefined) {
      return { kind: 'recorded', as: earlier === 'COMMENTED' ? 'comment' : 'verdict' }
    }
    try {
      await this.#post(review, verdict === 'approved' ? 'APPROVE' : 'REQUEST_CHANGES', signal)
      return { kind: 'recorded', as: 'verdict' }
    } catch (cause) {
      const isOwn = cause instanceof GithubFailure && /your own pull request/i.test(cause.message)
      if (!isOwn) throw cause
      await this.#post(review, 'COMMENT', signal)
      return { kind: 'recorded', as: 'comment' }
    }
  }

  /** How the same review was recorded before. */
  async #findReview(review: Review, signal?: AbortSignal): Promise<string | undefined> {
    const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews'
    const pull_number = pullNumber(review.number)
    for (let page = 1; page <= REVIEW_PAGES_MAX; page += 1) {
      const paging = { per_page: REVIEWS_PER_PAGE, page }
      const { count, found } = await this.#api.call(
        (octokit, request) =>
          octokit.request(route, { ...this.#address, pull_number, ...paging, request }),
        (data) => ({
          count: data.length,
          found: data.find(
            ({ commit_id, body }) => commit_id === review.commit && body.includes(markOf(review)),
          )?.state,
        }),
        signal,
      )
      if (found !== undefined || count < REVIEWS_PER_PAGE) return found
    }
    return undefined
  }

  async #post(
    review: Review,
    event: 'APPROVE' | 'REQUEST_CHANGES' | 'COMMENT',
    signal?: AbortSignal,
  ): Promise<void> {
    const { number, commit, verdict } = review
    const heading = event === 'COMMENT' ? `**${HEADINGS[verdict]}**\n\n` : ''
    const body = `${heading}${fitBody(review.body)}\n\n${markOf(review)}`
    // Not tried again from here: when the answer got lost, the next try has to look for it first.
    await this.#api.call(
      (octokit, request) =>
        octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
          ...this.#address,
          pull_number: pullNumber(number),
          commit_id: commit,
          event,
          body,
          request: { ...request, retries: 0 },
        }),
      () => undefined,
      signal,
    )
  }

  async merge(request: MergeRequest, signal?: AbortSignal): Promise<Merge> {
    const { number, reviewedHead, mergeCommit, expectedTarget } = request
    for (const commit of [reviewedHead, mergeCommit, expectedTarget]) guardGit('commit', commit)
    const { pull } = await this.read(number, signal)
    if (pull.state !== 'open') return this.#recognise(pull, request)
    if (pull.head !== reviewedHead) return { kind: 'moved', what: 'head', at: pull.head }
    const target = await this.readTarget(pull.target)
    if (target !== expectedTarget) return { kind: 'moved', what: 'target', at: target }
    try {
      const merged = await this.#putMerge(request, signal)
      return await this.#conclude({ ...pull, mergeCommit: merged }, request)
    } catch (cause) {
      const status = cause instanceof GithubFailure ? cause.status : undefined
      if (status === undefined || !REFUSALS.includes(status)) throw cause
      return this.#explainRefusal(request, (cause as GithubFailure).error.message, signal)
    }
  }

  async #putMerge(request: MergeRequest, signal?: AbortSignal): Promise<string> {
    const { number, reviewedHead, mergeCommit } = request
    const show = ['log', '-1', '--no-show-signature', '--format=%B', mergeCommit]
    const { text } = await this.#git.run(show, { repository: this.#work })
    const [title = '', ...rest] = text.split('\n')
    return this.#api.call(
      (octokit, options) =>
        octokit.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', {
          ...this.#address,
          pull_number: pullNumber(number),
          sha: reviewedHead,
          merge_method: 'squash',
          commit_title: fitTitle(title),
          commit_message: quieten(rest.join('\n').trim()),
          request: options,
        }),
      ({ sha }) => guardGit('commit', sha),
      signal,
    )
  }

  /**
   * 409: another head than the one reviewed. 405: conflicts, rules, or merged by an earlier try. 422
   * is said of the same by servers other than GitHub's own. Which of these it is, the pull request
   * tells.
   */
  async #explainRefusal(
    request: MergeRequest,
    reason: string,
    signal?: AbortSignal,
  ): Promise<Merge> {
    const { pull, isMergeable } = await this.read(request.number, signal)
    if (pull.state !== 'open') return this.#recognise(pull, request)
    if (pull.head !== request.reviewedHead) return { kind: 'moved', what: 'head', at: pull.head }
    const target = await this.readTarget(pull.target)
    if (target !== request.expectedTarget) return { kind: 'moved', what: 'target', at: target }
    if (isMergeable === false) return { kind: 'conflicted', reason }
    if (isMergeable === true) return { kind: 'blocked', reason }
    throw new ForgeFailure(
      'server_error',
      'GitHub has not found out yet whether this can be merged',
    )
  }

  /** What to make of a pull request that is not open any more. */
  async #recognise(pull: PullRequest, request: MergeRequest): Promise<Merge> {
    const isOurs = pull.state === 'merged' && pull.head === request.reviewedHead
    return isOurs ? this.#conclude(pull, request) : { kind: 'closed' }
  }

  async #conclude(pull: PullRequest, { mergeCommit: tested }: MergeRequest): Promise<Merge> {
    const { mergeCommit } = pull
    const target = await this.readTarget(pull.target)
    const isThere =
      mergeCommit !== null && (await isAncestor(this.#git, this.#work, mergeCommit, target))
    if (!isThere)
      throw new ForgeFailure('server_error', `the merge does not show in ${pull.target}`)
    const asTested = await haveSameTree(this.#git, this.#work, [mergeCommit, tested])
    await this.#retire(pull)
    return { kind: 'merged', mergeCommit, asTested }
  }

  /** The branch has done its work. Where rules keep it on GitHub, it may stay there. */
  async #retire({ number, branch, head }: PullRequest): Promise<void> {
    await keepHead(this.#git, this.#work, number, head)
    await this.deleteBranch({ branch, head }).catch((cause) => {
      const isRule = cause instanceof ForgeFailure && cause.error.retry === 'never'
      if (!isRule) throw cause
    })
    await deleteWorkBranch(this.#git, this.#work, { branch, head })
  }

  async deleteBranch(branch: BranchHead): Promise<BranchDeletion> {
    const ref = storyRef(branch)
    const at = await this.#remote.readRemote(ref)
    if (at === undefined) return { kind: 'deleted' }
    if (at !== branch.head) return { kind: 'moved', head: at }
    if (await this.#remote.push(ref, branch.head, null)) return { kind: 'deleted' }
    throw new ForgeFailure('server_error', `${branch.branch} is being changed by somebody else`)
  }

  readTarget(target: string): Promise<string> {
    return this.#remote.fetchTarget(target)
  }

  /** An answer is an answer: a refused token is for the effect to fail with, not to wait for. */
  async probe(signal: AbortSignal): Promise<boolean> {
    const asked = await answer(() =>
      this.#api.call(
        (octokit, request) =>
          octokit.request('GET /repos/{owner}/{repo}', {
            ...this.#address,
            request: { ...request, retries: 0 },
          }),
        () => undefined,
        signal,
      ),
    )
    return asked.ok || asked.error.retry === 'never'
  }
}

const CHECKS_GRACE_MS = 30_000

/** With these a merge is refused that may be done already, by a try whose answer got lost. */
const REFUSALS = [405, 409, 422]
const REVIEWS_PER_PAGE = 100
const REVIEW_PAGES_MAX = 10

const HEADINGS = { approved: 'Approved', changes_requested: 'Changes requested' }

/** Invisible in the review, and the same at every try. */
function markOf({ commit, verdict, body }: Review): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([commit, verdict, body]))
    .digest('hex')
  return `<!-- slipway-review ${digest.slice(0, 32)} -->`
}

function pullNumber(number: number): number {
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new ForgeFailure('invalid', 'a pull request has a positive number')
}
