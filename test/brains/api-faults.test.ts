import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FailureKind } from '../../src/effects/brains/brain.ts'
import type { Answer } from '../providers/answer.ts'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import { API_KEY, API_SUBJECTS, type ApiSubject, openSubject, PATIENT } from './api-subjects.ts'
import { breachIn, only, TURN, textOf, thinkThrough } from './turn.ts'

let server: ProviderServer

beforeAll(async () => {
  server = await startProviderServer()
})

afterAll(() => server.close())

/** Texts and calls are in it, so that a fault has something to lose. */
const REPLY = {
  parts: [
    { type: 'text', text: 'I read the file first, as one does.' },
    { type: 'call', name: 'read_file', input: { path: 'a.ts' } },
  ],
} as const

type Expected = FailureKind | 'finished'

/** What comes of a fault, for all providers, or for each that differs. */
const FAULTS: readonly (readonly [string, Answer, Expected, Partial<Record<string, Expected>>?])[] =
  [
    ['429', { error: 'rate_limited' }, 'rate_limited'],
    ['an overload', { error: 'overloaded' }, 'overloaded'],
    ['503', { error: 'unavailable' }, 'overloaded'],
    ['500', { error: 'server_error' }, 'overloaded'],
    ['401', { error: 'unauthorized' }, 'auth'],
    ['403', { error: 'forbidden' }, 'auth'],
    ['a model that is not there', { error: 'unknown_model' }, 'auth'],
    ['no credit', { error: 'no_credit' }, 'quota'],
    ['a context that is full', { error: 'context_overflow' }, 'context_overflow'],
    ['a request that is refused', { error: 'bad_request' }, 'rejected'],
    ['a redirect', redirect(), 'rejected'],
    ['413 without a word', { raw: [], status: 413 }, 'context_overflow'],
    ['502 with a page', { raw: ['<html>Bad gateway</html>'], status: 502 }, 'overloaded'],
    ['504 with a page', { raw: ['<html>Timeout</html>'], status: 504 }, 'timeout'],
    ['a connection that is cut', { broken: 'cut', reply: REPLY }, 'network'],
    ['a stream that ends early', { broken: 'truncated', reply: REPLY }, 'network'],
    ['200 without a body', { broken: 'empty' }, 'network'],
    ['204', { raw: [], status: 204 }, 'network'],
    ['half a line of JSON', { broken: 'garbage', reply: REPLY }, 'network'],
    ['the page of a proxy', { broken: 'html' }, 'network'],
    ['an error in the stream', { broken: 'error_in_stream', reply: REPLY }, 'overloaded'],
    [
      'an error as the first of the stream',
      { broken: 'error_in_stream', reply: REPLY, frames: 0 },
      'overloaded',
    ],
    ['an empty reply', { reply: { parts: [] } }, 'invalid_output'],
    ['a blank reply', { reply: { parts: [{ type: 'text', text: ' \n' }] } }, 'invalid_output'],
    [
      'two calls with one id',
      {
        reply: {
          parts: [
            { type: 'call', name: 'read_file', input: { path: 'a' }, id: 'same' },
            { type: 'call', name: 'submit', input: {}, id: 'same' },
          ],
        },
      },
      'invalid_output',
      // That library gives the second one an id of its own.
      { 'openai-compatible': 'finished' },
    ],
    [
      'a refusal',
      { reply: { parts: [], end: 'refused' } },
      'refused',
      { ollama: 'invalid_output' },
    ],
    [
      'a refusal after some text',
      { reply: { ...REPLY, end: 'refused' } },
      'refused',
      { ollama: 'finished' },
    ],
    ['a filter', { reply: { ...REPLY, end: 'filtered' } }, 'refused', { ollama: 'finished' }],
    [
      'a blocked prompt',
      { reply: { parts: [], end: 'prompt_blocked' } },
      'refused',
      { ollama: 'invalid_output' },
    ],
    [
      'a context that fills up',
      { reply: { ...REPLY, end: 'context_full' } },
      'finished',
      { anthropic: 'context_overflow' },
    ],
    [
      'a call that is malformed',
      { reply: { ...REPLY, end: 'malformed' } },
      'finished',
      { google: 'invalid_output' },
    ],
    ['a long reply', longReply(1_000_000), 'finished'],
    ['a huge reply', longReply(5_000_000), 'invalid_output'],
  ]

function redirect(): Answer {
  return { raw: [], status: 307, headers: { location: 'https://elsewhere.invalid/v1' } }
}

function longReply(chars: number): Answer {
  const text = 'All work and no play makes Jack a dull boy. '.repeat(Math.ceil(chars / 44))
  return { reply: { parts: [{ type: 'text', text }], pieceChars: 20_000 } }
}

for (const api of API_SUBJECTS) {
  describe(api.provider, () => {
    for (const [name, answer, expected, except] of FAULTS) {
      const wanted = except?.[api.provider] ?? expected
      test(`${name}: ${wanted}`, async () => {
        server.answer(answer)
        const events = await thinkThrough(openSubject(api, server))
        expect(breachIn(events)).toBeUndefined()
        const last = events.at(-1)
        expect(last?.type === 'failed' ? last.failure.kind : last?.type).toBe(wanted)
        if (last?.type === 'failed') expect(last.failure.message).not.toBe('')
      })
    }
    describeRetryAfter(api)
    describeWords(api)
    describePlainErrors(api)
    describeTimeouts(api)
  })
}

function describeRetryAfter(api: ApiSubject): void {
  const failureWith = async (headers: Readonly<Record<string, string>>) => {
    server.answer({ error: 'rate_limited', headers })
    const [failed] = only(await thinkThrough(openSubject(api, server)), 'failed')
    return failed?.failure
  }

  test('retry-after is read in seconds, in milliseconds and as a date', async () => {
    expect((await failureWith({}))?.retryAfterMs).toBeUndefined()
    expect((await failureWith({ 'retry-after': '' }))?.retryAfterMs).toBeUndefined()
    expect((await failureWith({ 'retry-after': '3' }))?.retryAfterMs).toBe(3_000)
    expect((await failureWith({ 'retry-after': '86400' }))?.retryAfterMs).toBe(86_400_000)
    const both = { 'retry-after-ms': '1500', 'retry-after': '9' }
    expect((await failureWith(both))?.retryAfterMs).toBe(1_500)
    const date = new Date(Date.now() + 90_000).toUTCString()
    const waitMs = (await failureWith({ 'retry-after': date }))?.retryAfterMs
    expect(waitMs).toBeGreaterThan(85_000)
    expect(waitMs).toBeLessThanOrEqual(90_000)
  })
}

function describeWords(api: ApiSubject): void {
  test('what a server says as a plain text is shown', async () => {
    server.answer({ raw: ['{"error":"No such tool: submit."}'], status: 400 })
    const events = await thinkThrough(openSubject(api, server))
    const failure = { kind: 'rejected', message: '400: No such tool: submit.' }
    expect(events).toEqual([{ type: 'failed', failure }])
  })

  test.each([
    ['plain text', 'The maximum context length is 8192 tokens, and there were 9000.'],
    ['a list', '{"detail":[{"loc":["body"],"msg":"The maximum context length is 8192 tokens"}]}'],
  ])('what a server says of the context as %s has it compacted', async (_, body) => {
    server.answer({ raw: [body], status: 422 })
    const [failed] = await thinkThrough(openSubject(api, server))
    expect(failed).toMatchObject({ type: 'failed', failure: { kind: 'context_overflow' } })
  })

  test('no failure holds the key, not even when the provider repeats it', async () => {
    const said = JSON.stringify({ error: { message: `Incorrect API key provided: ${API_KEY}` } })
    const pages: readonly Answer[] = [
      { raw: [said], status: 401 },
      { raw: [`{"error":"bad key ${API_KEY}"}`], status: 400 },
      { raw: [`{"error":"bad key ${API_KEY}"}`] },
      { raw: [`<p>${Buffer.from(`user:${API_KEY}`).toString('base64')}</p>`], status: 400 },
      { error: 'unauthorized' },
    ]
    for (const answer of pages) {
      server.answer(answer)
      const events = JSON.stringify(await thinkThrough(openSubject(api, server)))
      expect(events).not.toContain(API_KEY)
      expect(events).not.toContain(Buffer.from(`user:${API_KEY}`).toString('base64'))
    }
  })
}

function describePlainErrors(api: ApiSubject): void {
  const read = (raw: readonly string[], headers: Readonly<Record<string, string>> = {}) => {
    server.answer({ raw, headers: { 'content-type': 'application/json', ...headers } })
    return thinkThrough(openSubject(api, server))
  }

  test.each<readonly [FailureKind, string, object]>([
    ['auth', 'Incorrect API key provided.', { code: 'invalid_api_key' }],
    ['auth', '401: User not found.', { code: 401 }],
    ['quota', 'You exceeded your current quota.', { type: 'insufficient_quota' }],
    ['rejected', 'No such tool.', { type: 'invalid_request_error' }],
    ['overloaded', 'No channel is left.', { type: 'one_api_error' }],
  ])('an error with a 200 and no stream is heard: %s', async (kind, message, fields) => {
    const error = { message: message.replace(/^\d+: /, ''), ...fields }
    // Ollama has a line for each word of a reply, and one for an error.
    const body = JSON.stringify({ error }, null, api.provider === 'ollama' ? 0 : 2)
    const failed = [{ type: 'failed', failure: { kind, message } }]
    expect(await read([body])).toEqual(failed)
    expect(await read([`\ufeff${body.slice(0, 9)}`, `${body.slice(9)}\n`])).toEqual(failed)
    expect(await read([`[${body}]`], { 'content-type': 'text/event-stream' })).toEqual(failed)
  })

  test('an error with a 200 says by its headers how long to wait', async () => {
    const body = '{"error":{"message":"Slow down","code":"rate_limit_exceeded"}}'
    const failure = { kind: 'rate_limited', message: 'Slow down', retryAfterMs: 7_000 }
    expect(await read([body], { 'retry-after': '7' })).toEqual([{ type: 'failed', failure }])
  })

  test.each([
    ['says that there was none', '{"choices":[],"error":null}'],
    ['is as long as no error', `{"error":"${'x'.repeat(70_000)}","pretty":\n1}`],
    ['breaks off', '{"error":{"message":"Incorrect API key\n'],
  ])('a body with a 200 that %s is none', async (_, body) => {
    const events = await read([body])
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'network' } })
  })
}

function describeTimeouts(api: ApiSubject): void {
  test('a reply that drips for too long is ended by the whole time', async () => {
    server.answer({ reply: { parts: REPLY.parts, pieceChars: 1 }, frameDelayMs: 40 })
    const brain = openSubject(api, server, { ...PATIENT, totalMs: 400 })
    const events = await thinkThrough(brain)
    expect(breachIn(events)).toBeUndefined()
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'timeout' } })
  })

  test('a slow listener is no stalled provider', async () => {
    server.answer({ reply: { parts: [{ type: 'text', text: 'x'.repeat(200) }], pieceChars: 10 } })
    const brain = openSubject(api, server, { ...PATIENT, idleMs: 150 })
    const events = []
    for await (const event of brain.think(TURN, new AbortController().signal)) {
      if (events.length === 1) await new Promise((resolve) => setTimeout(resolve, 300))
      events.push(event)
    }
    expect(textOf(events)).toBe('x'.repeat(200))
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
  })

  test('the connection of a turn that was given up is closed', async () => {
    server.answer({ broken: 'stalled', reply: REPLY })
    const end = new AbortController()
    const { length } = server.requests
    const thinking = thinkThrough(openSubject(api, server), TURN, end.signal)
    await expect.poll(() => server.requests.length).toBe(length + 1)
    end.abort()
    await thinking
    await expect.poll(() => server.requests.at(-1)?.isGivenUp).toBe(true)
  })
}

test('what a cut reply cost is told, as far as the provider has said it', async () => {
  const [api] = API_SUBJECTS
  if (api === undefined) throw new Error('no subject')
  server.answer({ broken: 'cut', reply: REPLY })
  const events = await thinkThrough(openSubject(api, server))
  const [told] = only(events, 'usage')
  expect(told?.usage.inputTokens).toBe(server.requests.at(-1)?.inputTokens)
  expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'network' } })
})

test('a reply has a limit also where nothing in it is read', async () => {
  const [api] = API_SUBJECTS
  if (api === undefined) throw new Error('no subject')
  const comment = `: ${'x'.repeat(1_048_573)}\n`
  server.answer({ raw: Array.from({ length: 34 }, () => comment) })
  const events = await thinkThrough(openSubject(api, server))
  expect(events).toMatchObject([{ type: 'failed', failure: { kind: 'invalid_output' } }])
  expect(JSON.stringify(events)).toContain('33554432 bytes')
})

describe('a server that is not there', () => {
  test.each(API_SUBJECTS)('$provider: network', async (api) => {
    const gone = await startProviderServer()
    await gone.close()
    const [event] = await thinkThrough(openSubject(api, gone))
    expect(event).toMatchObject({ type: 'failed', failure: { kind: 'network' } })
  })

  test.each(API_SUBJECTS)('$provider: an address that is none is rejected', async (api) => {
    const [event] = await thinkThrough(openSubject(api, { url: 'http://[nowhere' }))
    expect(event).toMatchObject({ type: 'failed', failure: { kind: 'rejected' } })
  })
})
