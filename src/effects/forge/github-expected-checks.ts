import type { GithubApi } from './github-api.ts'
import { type Check, type CommitAddress, PAGE, readPages } from './github-checks.ts'
import { GithubFailure } from './github-failure.ts'

type Subject = CommitAddress & { readonly target: string }

/**
 * Names of checks that do not show yet: those that a branch requires, and those of apps that have
 * begun. An app that was only told of the commit may never say anything, and is not counted.
 */
export async function readExpected(
  api: GithubApi,
  subject: Subject,
  checks: readonly Check[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const shown = new Set(checks.map(({ name }) => name))
  const required = [
    ...(await ifTold(readProtection(api, subject, signal))),
    ...(await ifTold(readRules(api, subject, signal))),
  ].filter((name) => !shown.has(name))
  return [...new Set([...required, ...(await ifTold(readSuites(api, subject, signal)))])]
}

/** A server that does not have it, or does not tell us, leaves it to its own refusal of a merge. */
async function ifTold(asked: Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await asked
  } catch (cause) {
    const code = cause instanceof GithubFailure ? cause.error.code : undefined
    if (code === 'not_found' || code === 'unauthorized') return []
    throw cause
  }
}

function readProtection(api: GithubApi, { owner, repo, target }: Subject, signal?: AbortSignal) {
  const address = { owner, repo, branch: target }
  return api.call(
    (octokit, request) =>
      octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...address, request }),
    ({ protection }) => protection?.required_status_checks?.contexts ?? [],
    signal,
  )
}

async function readRules(
  api: GithubApi,
  { owner, repo, target }: Subject,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const address = { owner, repo, branch: target, per_page: PAGE }
  const route = 'GET /repos/{owner}/{repo}/rules/branches/{branch}'
  const required = await readPages('rules', (page) =>
    api.call(
      (octokit, request) => octokit.request(route, { ...address, page, request }),
      (rules) =>
        rules.map((rule) =>
          rule.type === 'required_status_checks'
            ? (rule.parameters?.required_status_checks ?? []).map(({ context }) => context)
            : [],
        ),
      signal,
    ),
  )
  return required.flat()
}

async function readSuites(
  api: GithubApi,
  { owner, repo, ref }: Subject,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const address = { owner, repo, ref, per_page: PAGE }
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/check-suites'
  const suites = await readPages('suites of checks', (page) =>
    api.call(
      (octokit, request) => octokit.request(route, { ...address, page, request }),
      ({ check_suites }) => check_suites.map(nameUnderWay),
      signal,
    ),
  )
  return suites.flat()
}

interface SuiteData {
  readonly id: number | bigint
  readonly status: string | null
  readonly latest_check_runs_count: number
  readonly app: { readonly name: string } | null
}

/** The name of a suite that has begun and shows no run yet. Those with runs are told of by them. */
function nameUnderWay({ id, status, latest_check_runs_count, app }: SuiteData): readonly string[] {
  const hasBegun = status !== null && !['completed', 'queued'].includes(status)
  return hasBegun && latest_check_runs_count === 0 ? [app?.name ?? `suite ${id}`] : []
}
