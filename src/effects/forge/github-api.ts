import { Octokit } from '@octokit/core'
import { retry } from '@octokit/plugin-retry'
import { throttling } from '@octokit/plugin-throttling'
import { explainRequestError, GithubFailure } from './github-failure.ts'

export interface GithubApiSettings {
  readonly apiUrl: string
  readonly token: string
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 30_000

/** Tries after the first one, a second later; then it is the runtime's to decide. */
const RETRIES_MAX = 1

/** A limit that is over so soon is sat out here, once; a longer one is the runtime's to wait for. */
const LIMIT_S_MAX = 5

/** What another try cannot change. The rest is 5xx and no answer at all. */
const FINAL = [400, 401, 403, 404, 405, 409, 410, 422, 429, 451]

const PacedOctokit = Octokit.plugin(throttling, retry)

/** What goes with each request besides its parameters. */
interface RequestOptions {
  signal?: AbortSignal
}

/** GitHub's REST API, asked no faster than GitHub likes and no more often than makes sense. */
export interface GithubApi {
  /**
   * Sends one request and reads its answer; an answer that cannot be read is a failure of the
   * server. Rejects with a GithubFailure, at once when the signal says so.
   */
  call<Data, T>(
    send: (octokit: Octokit, request: RequestOptions) => Promise<{ readonly data: Data }>,
    read: (data: Data) => T,
    signal?: AbortSignal,
  ): Promise<T>
}

export function openGithubApi({ apiUrl, token, timeoutMs }: GithubApiSettings): GithubApi {
  const isShort = (afterS: number, _options: object, _octokit: object, retryCount: number) =>
    afterS <= LIMIT_S_MAX && retryCount < 1
  const octokit = new PacedOctokit({
    baseUrl: apiUrl,
    auth: token,
    userAgent: 'slipway',
    log: SILENCE,
    request: { fetch: fetchWithin(timeoutMs ?? TIMEOUT_MS), log: SILENCE },
    // The pace is kept for each server, since it is the server that sets it.
    throttle: { id: apiUrl, onRateLimit: isShort, onSecondaryRateLimit: isShort },
    retry: { doNotRetry: FINAL, retries: RETRIES_MAX },
  })
  return {
    async call(send, read, signal) {
      const { data } = await until(send(octokit, signal ? { signal } : {}), signal).catch(
        (cause) => {
          throw cause instanceof GithubFailure ? cause : explainRequestError(cause, Date.now())
        },
      )
      try {
        return read(data)
      } catch {
        throw new GithubFailure('server_error', 'the answer is not one that GitHub would give')
      }
    },
  }
}

/** A log could hold what a repository or a server made up; failures are told by their answers. */
const SILENCE = { debug() {}, info() {}, warn() {}, error() {} }

/** The time limit is for the request alone, and not for the wait until it is its turn. */
function fetchWithin(timeoutMs: number): typeof fetch {
  return async (input, init) => {
    const signals = [AbortSignal.timeout(timeoutMs), ...(init?.signal ? [init.signal] : [])]
    const options = { ...init, signal: AbortSignal.any(signals), redirect: 'manual' } as const
    const response = await fetch(input, options)
    if (response.status < 300 || response.status > 399 || response.status === 304) return response
    // Following it would send the request, a merge perhaps, to somewhere that nobody configured.
    const message = 'the server redirects; the repository may have another name by now'
    return Response.json({ message }, { status: 404 })
  }
}

/** Waits in the queue do not listen to signals, so that they are left instead. */
async function until<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  const left = new AbortController()
  const abandoned = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new GithubFailure('aborted', 'the request was given up'))
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { signal: left.signal })
  })
  try {
    return await Promise.race([work, abandoned])
  } finally {
    left.abort()
  }
}
