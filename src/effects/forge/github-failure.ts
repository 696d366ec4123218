import type { ForgeErrorCode } from './forge.ts'
import { ForgeFailure } from './forge-failure.ts'

/** What GitHub asks for when it limits without saying for how long. */
const LIMITED_MS = 60_000

/** An answer of GitHub's API that is no success. */
export class GithubFailure extends ForgeFailure {
  /** The HTTP status; undefined when there was no answer. */
  readonly status: number | undefined

  constructor(code: ForgeErrorCode, message: string, status?: number, retryAfterMs?: number) {
    super(code, message, retryAfterMs)
    this.status = status
  }
}

/** What octokit throws. */
interface RequestError {
  readonly name?: string
  readonly message?: string
  readonly status?: number
  readonly response?: { readonly headers: Readonly<Record<string, string | number | undefined>> }
}

/** Says what an error of a request means. Errors that are not of a request are bugs. */
export function explainRequestError(cause: unknown, nowMs: number): GithubFailure {
  const { name, message = '', status, response } = cause as RequestError
  if (name === 'AbortError') return new GithubFailure('aborted', 'the request was given up')
  if (status === undefined) throw cause
  if (response === undefined) return new GithubFailure('network', `no answer: ${message}`)
  const limitedMs = limitOf(status, message, response.headers, nowMs)
  if (limitedMs !== undefined) {
    return new GithubFailure('rate_limited', message, status, limitedMs)
  }
  return new GithubFailure(codeOf(status), `${status}: ${message}`, status)
}

function codeOf(status: number): ForgeErrorCode {
  if (status >= 500) return 'server_error'
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 404 || status === 410 || status === 451) return 'not_found'
  return status === 408 ? 'network' : 'invalid'
}

/** How long to wait, for the primary and the secondary limits; undefined when it is no limit. */
function limitOf(
  status: number,
  message: string,
  headers: Readonly<Record<string, string | number | undefined>>,
  nowMs: number,
): number | undefined {
  if (status !== 403 && status !== 429) return undefined
  const retryAfterS = Number(headers['retry-after'])
  if (retryAfterS > 0) return retryAfterS * 1_000
  if (Number(headers['x-ratelimit-remaining'] ?? 1) === 0) {
    const resetMs = Number(headers['x-ratelimit-reset']) * 1_000
    // A second more, because the reset is a whole second and clocks differ.
    return resetMs > nowMs ? resetMs - nowMs + 1_000 : LIMITED_MS
  }
  return status === 429 || /rate limit|abuse/i.test(message) ? LIMITED_MS : undefined
}

/** The same for git: what it prints when it could not reach a repository over HTTP. */
export function explainGitError(text: string): ForgeFailure {
  const status = Number(/The requested URL returned error: (\d{3})/.exec(text)?.[1])
  const message = `git: ${text}`
  if (status === 429) return new ForgeFailure('rate_limited', message, LIMITED_MS)
  if (status >= 400) return new ForgeFailure(codeOf(status), message)
  if (/Authentication failed|could not read (Username|Password)/.test(text)) {
    return new ForgeFailure('unauthorized', message)
  }
  if (/repository .* not found|couldn't find remote ref/i.test(text)) {
    return new ForgeFailure('not_found', message)
  }
  return new ForgeFailure('network', message)
}
