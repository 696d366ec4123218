import { describe, expect, test } from 'vitest'
import type { FailureKind } from './brain.ts'
import { explainFailure, type FailureContext } from './failure.ts'

const NOW_MS = Date.parse('2026-11-02T10:00:00Z')

const CONTEXT: FailureContext = { answering: false, secrets: [], nowMs: NOW_MS }

/** An answer that is no success, as the providers' libraries throw it. */
function answer(status: number, message: string, fields: object = {}, headers: object = {}) {
  const responseBody = JSON.stringify({ error: { message, ...fields } })
  return Object.assign(new Error(message), {
    statusCode: status,
    responseBody,
    responseHeaders: headers,
  })
}

/** A connection that failed, with its cause where Node puts it. */
function connection(code: string): Error {
  const cause = Object.assign(new Error(`connect ${code} 127.0.0.1:1`), { code })
  return new TypeError('fetch failed', { cause })
}

describe('errors in the middle of a stream', () => {
  const answering = { ...CONTEXT, answering: true }

  test.each<readonly [unknown, FailureKind]>([
    [{ type: 'overloaded_error', message: 'Overloaded' }, 'overloaded'],
    [{ type: 'rate_limit_error', message: 'Slow down' }, 'rate_limited'],
    [{ type: 'api_error', message: 'Internal server error' }, 'overloaded'],
    [{ type: 'invalid_request_error', message: 'prompt is too long' }, 'context_overflow'],
    [
      { message: '`inputs` tokens + `max_new_tokens` must be <= 8192', http_status_code: 422 },
      'context_overflow',
    ],
    [{ message: 'Upstream failed', code: 502 }, 'overloaded'],
    [{ message: 'Key limit', code: 402 }, 'quota'],
    [{ message: 'whatever this is' }, 'overloaded'],
    ['the model runner has unexpectedly stopped', 'overloaded'],
    ["Failed to call a function. See 'failed_generation' for more details.", 'invalid_output'],
    [
      { code: 500, message: 'Failed to parse input at pos 13: <tool_call>', type: 'server_error' },
      'invalid_output',
    ],
    ['XML syntax error on line 7: expected element name after <', 'invalid_output'],
    [new SyntaxError('Unexpected end of JSON input'), 'network'],
    [new TypeError("Cannot read properties of undefined (reading 'x')"), 'network'],
    [answer(200, 'Failed to process successful response'), 'network'],
  ])('%o: %s', (error, kind) => {
    expect(explainFailure(error, answering).kind).toBe(kind)
  })
})

describe('connections', () => {
  test.each<readonly [string, FailureKind]>([
    ['ECONNREFUSED', 'network'],
    ['ECONNRESET', 'network'],
    ['ENOTFOUND', 'network'],
    ['EAI_AGAIN', 'network'],
    ['UND_ERR_SOCKET', 'network'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'network'],
    ['ETIMEDOUT', 'timeout'],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
    ['UND_ERR_BODY_TIMEOUT', 'stalled'],
  ])('%s: %s', (code, kind) => {
    expect(explainFailure(connection(code), CONTEXT)).toMatchObject({
      kind,
      message: expect.stringContaining(code),
    })
  })

  test('an address that is none is about the request', () => {
    const cause = Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL' })
    const error = new TypeError('Failed to parse URL from x', { cause })
    expect(explainFailure(error, CONTEXT).kind).toBe('rejected')
  })

  test('what a library throws before it asks is about the request', () => {
    expect(explainFailure(new Error('no such option'), CONTEXT).kind).toBe('rejected')
  })
})

describe('how long to leave a provider alone', () => {
  const waitOf = (headers: object, message = 'Slow down', fields: object = {}) =>
    explainFailure(answer(429, message, fields, headers), CONTEXT).retryAfterMs

  test('headers', () => {
    expect(waitOf({})).toBeUndefined()
    expect(waitOf({ 'retry-after': '12' })).toBe(12_000)
    expect(waitOf({ 'Retry-After': '0.25' })).toBe(250)
    expect(waitOf({ 'retry-after': '604800' })).toBe(604_800_000)
    expect(waitOf({ 'retry-after-ms': '40', 'retry-after': '9' })).toBe(40)
    expect(waitOf({ 'retry-after': 'Mon, 02 Nov 2026 10:05:00 GMT' })).toBe(300_000)
    expect(waitOf({ 'retry-after': 'Mon, 02 Nov 2026 09:00:00 GMT' })).toBeUndefined()
    expect(waitOf({ 'retry-after': 'soon' })).toBeUndefined()
    expect(waitOf({ 'retry-after': '-5' })).toBeUndefined()
    expect(waitOf({ 'retry-after': '0' })).toBe(0)
  })

  test('a header without a value says nothing', () => {
    expect(waitOf({ 'retry-after': '' })).toBeUndefined()
    expect(waitOf({ 'retry-after-ms': ' ' })).toBeUndefined()
    expect(waitOf({ 'retry-after-ms': '', 'retry-after': '2' })).toBe(2_000)
    expect(waitOf({ 'retry-after': ' ' }, 'Please try again in 20ms.')).toBe(20)
  })

  test('a Unix time is the moment until which to wait', () => {
    const seconds = NOW_MS / 1_000
    expect(waitOf({ 'retry-after': String(seconds + 20) })).toBe(20_000)
    expect(waitOf({ 'retry-after': String(seconds + 0.5) })).toBe(500)
    expect(waitOf({ 'retry-after': String(NOW_MS + 20_000) })).toBe(20_000)
    expect(waitOf({ 'retry-after-ms': String(NOW_MS + 20_000) })).toBe(20_000)
    expect(waitOf({ 'retry-after': String(seconds - 20) })).toBeUndefined()
    expect(waitOf({ 'retry-after': '1000000000' })).toBeUndefined()
  })

  test('a time that no allowance takes is none', () => {
    const daysMs = 35 * 86_400_000
    const late = (ms: number) => new Date(NOW_MS + ms).toUTCString()
    expect(waitOf({ 'retry-after': String(daysMs / 1_000) })).toBe(daysMs)
    expect(waitOf({ 'retry-after': String(daysMs / 1_000 + 1) })).toBeUndefined()
    expect(waitOf({ 'retry-after-ms': String(daysMs) })).toBe(daysMs)
    expect(waitOf({ 'retry-after-ms': String(daysMs + 1) })).toBeUndefined()
    expect(waitOf({ 'retry-after': late(daysMs) })).toBe(daysMs)
    expect(waitOf({ 'retry-after': late(daysMs + 1_000) })).toBeUndefined()
    for (const odd of ['1e12', '1e300', 'Infinity', '99999999999']) {
      expect(waitOf({ 'retry-after': odd })).toBeUndefined()
      expect(waitOf({ 'retry-after-ms': odd })).toBeUndefined()
    }
    expect(waitOf({}, 'Please try again in 35 days.')).toBe(daysMs)
    expect(waitOf({}, 'Please try again in 36 days.')).toBeUndefined()
    expect(waitOf({}, 'Quota', { details: [{ retryDelay: '99999999s' }] })).toBeUndefined()
    expect(waitOf({}, 'The limit resets Jan 9, 2028, 3pm (UTC)')).toBeUndefined()
    // What another source says holds then.
    expect(waitOf({ 'retry-after': '1e300' }, 'Please try again in 20ms.')).toBe(20)
  })

  test('words, and the details of Google', () => {
    expect(waitOf({}, 'Rate limit reached. Please try again in 6m0.5s.')).toBe(360_500)
    expect(waitOf({}, 'Please try again in 20ms. Visit the page.')).toBe(20)
    expect(waitOf({}, 'Try again in 2 days 3 hours 5 minutes.')).toBe(183_900_000)
    expect(waitOf({}, 'Your quota will reset after 14h38m2s.')).toBe(52_682_000)
    expect(waitOf({}, 'Please retry after 36 seconds. Please go here.')).toBe(36_000)
    expect(waitOf({}, 'Please retry after 1 second.')).toBe(1_000)
    expect(waitOf({}, 'Please retry in 26.6s.')).toBe(26_600)
    expect(waitOf({}, 'Please try again after 2 minutes.')).toBe(120_000)
    expect(waitOf({}, 'We retry after 3 failures.')).toBeUndefined()
    expect(waitOf({}, 'Please retry after a while, within 5 seconds.')).toBeUndefined()
    const retryInfo = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' }
    expect(waitOf({}, 'Quota', { details: [{}, retryInfo] })).toBe(34_070)
    expect(waitOf({}, 'Quota', { details: [{ retryDelay: 'soon' }] })).toBeUndefined()
    expect(waitOf({}, "You've hit your limit · resets 11am (UTC)")).toBe(61 * 60_000)
  })

  test('the time at which an allowance of OpenRouter begins anew', () => {
    const resetAt = (reset: unknown) =>
      waitOf({}, 'Slow down', { metadata: { headers: { 'X-RateLimit-Reset': reset } } })
    expect(resetAt(String(NOW_MS + 28_800_000))).toBe(28_800_000)
    expect(resetAt(NOW_MS + 5_000)).toBe(5_000)
    expect(resetAt(String(NOW_MS - 5_000))).toBeUndefined()
    for (const odd of ['60', String(NOW_MS / 1_000), 'soon', '', null, { toString: 1 }, 1e300]) {
      expect(resetAt(odd)).toBeUndefined()
    }
    // Others say it of every answer, and count otherwise.
    expect(waitOf({ 'x-ratelimit-reset': String(NOW_MS + 5_000) })).toBeUndefined()
    const metadata = { headers: { 'X-RateLimit-Reset': String(NOW_MS + 5_000) } }
    expect(waitOf({ 'retry-after': '2' }, 'Slow down', { metadata })).toBe(2_000)
  })
})

describe('what a provider says without the form that its library knows', () => {
  /** The library knows no more than the status then, and says it in words. */
  const failureFor = (body: unknown, secrets: readonly string[] = []) => {
    const fields = { statusCode: 400, responseBody: JSON.stringify(body) }
    const error = Object.assign(new Error('Bad Request'), fields)
    return explainFailure(error, { ...CONTEXT, secrets })
  }

  test.each([
    [{ error: "Invalid tool_choice type: 'object'." }, "400: Invalid tool_choice type: 'object'."],
    [{ object: 'error', message: 'No such tool.' }, '400: No such tool.'],
    [{ detail: 'No such tool.' }, '400: No such tool.'],
    [{ error: { message: 'No such tool.' }, detail: 'See the log.' }, '400: No such tool.'],
    [
      { error: { message: 'Error', metadata: { raw: 'No such tool.' } } },
      '400: Error: No such tool.',
    ],
    [
      { statusCode: 400, error: 'Bad Request', message: 'No such tool.' },
      '400: Bad Request: No such tool.',
    ],
    [{ error: ' ' }, '400: Bad Request'],
    [{ error: { message: ['No such tool.'] } }, '400: No such tool.'],
    [{ error: [{ message: 'No such tool.' }] }, '400: No such tool.'],
    [{ errors: [{ message: 'No such tool.', code: 5006 }], result: {} }, '400: No such tool.'],
    [{ code: 20015, msg: 'No such tool.', data: 'rate limit' }, '400: No such tool.'],
    [{ error_code: 336003, error_msg: 'No such tool.' }, '400: No such tool.'],
    ['No such tool.', '400: No such tool.'],
    [
      { detail: [{ loc: ['body', 'tools', 0], msg: 'Not an object', input: 'rate limit' }] },
      '400: body.tools: Not an object',
    ],
    [
      { message: { detail: [{ type: 'enum', loc: ['body', 'tool_choice'], msg: 'Unknown' }] } },
      '400: body.tool_choice: enum Unknown',
    ],
    [{ result: 'rate limit' }, '400: Bad Request'],
  ])('%j', (body, message) => {
    expect(failureFor(body)).toEqual({ kind: 'rejected', message })
  })

  test.each([
    ["This model's maximum context length is 8192 tokens.", 'context_overflow'],
    ['insufficient credits', 'quota'],
    ['Failed to read the JSON body: tool_choice: unknown variant', 'rejected'],
  ])('not even in JSON: %s', (body, kind) => {
    const fields = { statusCode: 400, responseBody: `${body}\n` }
    const error = Object.assign(new Error('Bad Request'), fields)
    expect(explainFailure(error, CONTEXT)).toEqual({ kind, message: `400: ${body}` })
  })

  test('is told apart from the name of what was sent', () => {
    const detail = [{ loc: ['body', 'options', 'context_length'], msg: 'field required' }]
    const message = '400: body.options.context_length: field required'
    expect(failureFor({ detail })).toEqual({ kind: 'rejected', message })
  })

  test.each([
    '{"detail":[{"msg":"No","input":"insufficient credits',
    'data: {"request":"insufficient credits"}\n\n',
    `Traceback (most recent call last):${' '.repeat(500)}context_length`,
  ])('is not looked for where it may be anything: %s', (responseBody) => {
    const error = Object.assign(new Error('Bad Request'), { statusCode: 400, responseBody })
    expect(explainFailure(error, CONTEXT).kind).toBe('rejected')
  })

  test('may be of any depth', () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const responseBody = `{"error":{"message":"No.","details":${deep}}}`
    const error = Object.assign(new Error('Bad Request'), { statusCode: 400, responseBody })
    expect(explainFailure(error, CONTEXT)).toEqual({ kind: 'rejected', message: '400: No.' })
  })

  test('not too deep inside', () => {
    const within = (levels: number): unknown =>
      levels === 0 ? 'x' : { errors: within(levels - 1) }
    expect(failureFor(within(6)).message).toBe('400: x')
    expect(failureFor(within(7)).message).toBe('400: Bad Request')
  })

  test('a page is not read', () => {
    const fields = { statusCode: 400, responseBody: '<p>insufficient credits</p>' }
    const error = Object.assign(new Error('Bad Request'), fields)
    expect(explainFailure(error, CONTEXT)).toEqual({
      kind: 'rejected',
      message: '400: Bad Request',
    })
  })

  test('is short and holds no secret', () => {
    const key = 'a-key-that-looks-like-nothing'
    const { message } = failureFor({ error: `No ${key} ${'x'.repeat(10_000)}` }, [key])
    expect(message).toMatch(/^400: No \S+ x+$/)
    expect(message).not.toContain(key)
    expect(message).toHaveLength(1_000)
  })

  test('in a stream that was fine until then', () => {
    const error = { response: { error: { code: 'x', message: 'The model fell over.' } } }
    expect(explainFailure(error, CONTEXT).message).toBe('The model fell over.')
  })
})

test('a message is short and holds no secret', () => {
  const key = 'a-key-that-looks-like-nothing'
  const long = answer(500, `${key} ${'x'.repeat(10_000)} sk-ant-api03-aaaaaaaaaaaaaaaaaaaa`)
  const { message } = explainFailure(long, { ...CONTEXT, secrets: [key] })
  expect(message).not.toContain(key)
  expect(message.length).toBeLessThanOrEqual(1_000)
  const page = Object.assign(new Error(''), {
    statusCode: 502,
    responseBody: '<h1>Bad gateway</h1>',
  })
  expect(explainFailure(page, CONTEXT).message).toBe('502: <h1>Bad gateway</h1>')
})

test('anything may be thrown', () => {
  const circle: { self?: unknown } = {}
  circle.self = circle
  const strange = [Symbol('x'), 5n, { count: 5n }, circle, { message: 5, data: 'x' }]
  for (const thrown of [undefined, null, 0, '', [], {}, ...strange]) {
    expect(explainFailure(thrown, CONTEXT).message).toBeTypeOf('string')
  }
})

test('no half of a secret stands where the opening of a body ends', () => {
  const key = 'kq-1234567890abcdefghij'
  for (let before = 170; before <= 205; before += 1) {
    const responseBody = `<p>${'x'.repeat(before - 4)} ${key}</p>`
    const error = Object.assign(new Error(''), { statusCode: 502, responseBody })
    const { message } = explainFailure(error, { ...CONTEXT, secrets: [key] })
    expect(message).not.toContain('kq-')
  }
})
