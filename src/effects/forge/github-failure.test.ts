import { describe, expect, test } from 'vitest'
import { explainGitError, explainRequestError } from './github-failure.ts'

const NOW_MS = 1_800_000_000_000
const explain = (status: number, message = '', headers = {}) =>
  explainRequestError({ name: 'HttpError', message, status, response: { headers } }, NOW_MS).error

describe('an answer of the API', () => {
  test.each<[number, string, string]>([
    [400, 'invalid', 'never'],
    [401, 'unauthorized', 'never'],
    [403, 'unauthorized', 'never'],
    [404, 'not_found', 'never'],
    [405, 'invalid', 'never'],
    [408, 'network', 'later'],
    [409, 'invalid', 'never'],
    [410, 'not_found', 'never'],
    [422, 'invalid', 'never'],
    [451, 'not_found', 'never'],
    [500, 'server_error', 'later'],
    [502, 'server_error', 'later'],
  ])('of %i means %s, again %s', (status, code, retry) => {
    expect(explain(status, 'words')).toEqual({ code, retry, message: `${status}: words` })
  })

  const reset = (inS: number) => ({
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(NOW_MS / 1_000 + inS),
  })

  test.each<[string, number, string, object, number]>([
    ['as long as it says', 403, 'secondary rate limit', { 'retry-after': '30' }, 30_000],
    ['as long as it says, without a word', 429, '', { 'retry-after': '7' }, 7_000],
    ['until the reset and a second more', 403, 'API rate limit exceeded', reset(90), 91_000],
    ['a minute when the reset is over', 429, '', reset(-5), 60_000],
    ['a minute when nothing says how long', 403, 'You hit a secondary rate limit', {}, 60_000],
    ['a minute for too many requests', 429, '', {}, 60_000],
    ['a minute when the header is no number', 429, '', { 'retry-after': 'soon' }, 60_000],
  ])('limits for %s', (_, status, message, headers, retryAfterMs) => {
    const limited = { code: 'rate_limited', retry: 'later', retryAfterMs }
    expect(explain(status, message, headers)).toMatchObject(limited)
  })

  test('that forbids is no limit, though requests are counted', () => {
    const headers = { 'x-ratelimit-remaining': '4999', 'x-ratelimit-reset': '1' }
    expect(explain(403, 'Resource not accessible', headers).code).toBe('unauthorized')
  })
})

test('no answer is the network, and a request that was given up is no failure of it', () => {
  const cut = { name: 'HttpError', message: 'other side closed', status: 500 }
  expect(explainRequestError(cut, NOW_MS).error).toMatchObject({ code: 'network', retry: 'later' })
  const abort = { name: 'AbortError', status: 500 }
  expect(explainRequestError(abort, NOW_MS).error.code).toBe('aborted')
})

test('what is no failure of a request stays the bug that it is', () => {
  expect(() => explainRequestError(new TypeError('a bug'), NOW_MS)).toThrow('a bug')
})

test.each<[string, string]>([
  ['The requested URL returned error: 503', 'server_error'],
  ['The requested URL returned error: 429', 'rate_limited'],
  ['The requested URL returned error: 403', 'unauthorized'],
  ["fatal: Authentication failed for 'https://github.com/a/b.git/'", 'unauthorized'],
  ["fatal: could not read Username for 'https://github.com': terminal prompts", 'unauthorized'],
  ["remote: Repository not found.\nfatal: repository 'https://x/y.git/' not found", 'not_found'],
  ["fatal: couldn't find remote ref refs/heads/nowhere", 'not_found'],
  ['Could not resolve host: github.com', 'network'],
  ['fatal: the remote end hung up unexpectedly', 'network'],
])('git’s %j is %s', (text, code) => {
  expect(explainGitError(text).error.code).toBe(code)
})
