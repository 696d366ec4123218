import type { Checks, FailedCheck } from './forge.ts'
import { ForgeFailure } from './forge-failure.ts'
import type { GithubApi } from './github-api.ts'

/** A check run or a commit status, whichever the forge's other tools use. */
export interface Check {
  readonly name: string
  readonly verdict: 'passed' | 'failed' | 'pending'
  readonly url: string | null
}

/** So many of a list come with one answer. */
export const PAGE = 100
const PAGES_MAX = 10
const PENDING_RETRY_MS = 15_000

/** What GitHub itself lets pass where a check is required. */
const PASSING = ['success', 'neutral', 'skipped']

/** Sums checks up. One failure is enough, also while others are still running. */
export function sumUp(checks: readonly Check[]): Checks {
  const failures = checks
    .filter(({ verdict }) => verdict === 'failed')
    .map(({ name, url }): FailedCheck => ({ name, url }))
  if (failures.length > 0) return { kind: 'failed', failures }
  const names = checks.filter(({ verdict }) => verdict === 'pending').map(({ name }) => name)
  if (names.length > 0) return { kind: 'pending', names, retryAfterMs: PENDING_RETRY_MS }
  return { kind: checks.length === 0 ? 'none' : 'passed' }
}

/** A commit of a repository. */
export interface CommitAddress {
  readonly owner: string
  readonly repo: string
  readonly ref: string
}

/** Reads the newest check runs and statuses of a commit. */
export async function readGithubChecks(
  api: GithubApi,
  commit: CommitAddress,
  signal?: AbortSignal,
): Promise<readonly Check[]> {
  return [
    ...(await readPages('checks', (page) => readRuns(api, { ...commit, page }, signal))),
    ...(await readPages('checks', (page) => readStatuses(api, { ...commit, page }, signal))),
  ]
}

type Page = CommitAddress & { readonly page: number }

/** Reads a list to its end; one that is too long to be read is a failure that names it. */
export async function readPages<T>(
  what: string,
  read: (page: number) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const all: T[] = []
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const some = await read(page)
    all.push(...some)
    if (some.length < PAGE) return all
  }
  // Not knowing all of them is not knowing whether they passed.
  throw new ForgeFailure('invalid', `more than ${PAGE * PAGES_MAX} ${what} of one commit`)
}

function readRuns(api: GithubApi, page: Page, signal?: AbortSignal): Promise<Check[]> {
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs'
  return api.call(
    (octokit, request) =>
      octokit.request(route, { ...page, filter: 'latest', per_page: PAGE, request }),
    ({ check_runs }) =>
      check_runs.map(({ name, status, conclusion, html_url, details_url }) => ({
        name,
        verdict: status !== 'completed' ? 'pending' : verdictOf(PASSING.includes(conclusion ?? '')),
        url: details_url ?? html_url,
      })),
    signal,
  )
}

function readStatuses(api: GithubApi, page: Page, signal?: AbortSignal): Promise<Check[]> {
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/status'
  return api.call(
    (octokit, request) => octokit.request(route, { ...page, per_page: PAGE, request }),
    ({ statuses }) =>
      statuses.map(({ context, state, target_url }) => ({
        name: context,
        verdict: state === 'pending' ? 'pending' : verdictOf(state === 'success'),
        url: target_url,
      })),
    signal,
  )
}

const verdictOf = (passed: boolean) => (passed ? 'passed' : 'failed')
