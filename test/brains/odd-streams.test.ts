import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BrainEvent } from '../../src/effects/brains/brain.ts'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import { sse } from '../providers/wire.ts'
import { type ApiSubject, openSubject, subjectOf } from './api-subjects.ts'
import { breachIn, only, textOf, thinkThrough } from './turn.ts'

let server: ProviderServer

beforeAll(async () => {
  server = await startProviderServer()
})

afterAll(() => server.close())

/** What a turn comes to when the provider sends those frames. */
async function read(
  provider: ApiSubject['provider'],
  frames: readonly string[],
): Promise<BrainEvent[]> {
  server.answer({ raw: frames, headers: { 'content-type': 'text/event-stream' } })
  const events = await thinkThrough(openSubject(subjectOf(provider), server))
  expect(breachIn(events)).toBeUndefined()
  return events
}

describe('an event that Anthropic has added to its streams', () => {
  const named = (type: string, more: object = {}) => sse({ type, ...more }, type)
  const usage = { input_tokens: 10, output_tokens: 1 }
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage }
  const begin = named('message_start', { message })
  const block = (index: number, delta: object) => [
    named('content_block_start', { index, content_block: { type: 'text', text: '' } }),
    named('content_block_delta', { index, delta }),
    named('content_block_stop', { index }),
  ]
  const end = [
    named('message_delta', { delta: { stop_reason: 'end_turn' }, usage }),
    named('message_stop'),
  ]
  const text = block(0, { type: 'text_delta', text: 'Hello.' })

  test('is passed over', async () => {
    const news = named('brand_new', { detail: { some: 'thing' } })
    const events = await read('anthropic', [begin, news, ...text, news, ...end])
    expect(textOf(events)).toBe('Hello.')
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'stop' })
  })

  test('is cut: what it had said by then is not known, although its beginning names a number', async () => {
    const [begun = '', delta = ''] = text
    const events = await read('anthropic', [begin, begun, delta])
    expect(only(events, 'usage')).toMatchObject([
      { usage: { inputTokens: 10, outputTokens: null } },
    ])
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'network' } })
  })

  test.each([
    ['an event without a type', sse({ detail: 1 })],
    ['a type that is no text', sse({ type: 7 })],
    ['an event that is no object', sse(['brand_new'])],
    ['half an event', 'data: {"type":"brand_new","det\n\n'],
    ['a known event that lacks something', sse({ type: 'content_block_stop' })],
    ['a delta of an unknown kind', block(1, { type: 'brand_new_delta' })[1] ?? ''],
    ['an error without its details', sse({ type: 'error' })],
  ])('is told apart from %s', async (_, frame) => {
    const events = await read('anthropic', [begin, frame, ...text, ...end])
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'network' } })
  })

  test('is told apart from an error', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    const events = await read('anthropic', [begin, sse({ type: 'error', error }), ...text, ...end])
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'overloaded' } })
  })
})

describe('an error of a router in the middle of a stream', () => {
  const said = (error: unknown) => [sse({ error }), sse('[DONE]')]
  const ended = (error: unknown) => {
    const choices = [{ index: 0, delta: { content: '' }, finish_reason: 'error' }]
    return [sse({ id: 'x', error, choices }), sse('[DONE]')]
  }
  const behind = (raw: string, code = 400) => ({
    code,
    message: 'Provider returned error',
    metadata: { raw, provider_name: 'Somebody' },
  })
  const begun = sse({ id: 'x', choices: [{ index: 0, delta: { content: 'A' } }] })

  test.each([
    [behind('{"error":{"message":"prompt is too long: 2 > 1"}}'), 'context_overflow'],
    [behind('{"error":{"message":"tools.0: Field required"}}'), 'rejected'],
    [behind('it is rate-limited upstream', 429), 'rate_limited'],
    [{ code: 402, message: 'Provider returned error' }, 'quota'],
    [{ code: 400, metadata: { raw: 'prompt is too long' } }, 'context_overflow'],
    ['prompt is too long', 'context_overflow'],
    [{ code: 429 }, 'rate_limited'],
    [true, 'overloaded'],
  ])('is what the provider behind it said: %j', async (error, kind) => {
    for (const frames of [said(error), ended(error), [begun, ...said(error)]]) {
      const events = await read('openai-compatible', frames)
      expect(events.at(-1)).toMatchObject({
        type: 'failed',
        failure: { kind, message: expect.stringMatching(/\w/) },
      })
    }
  })
})

describe('a server that only speaks like OpenAI', () => {
  const chunk = (delta: object, more: object = {}) =>
    sse({ id: 'x', created: 1, model: 'm', choices: [{ index: 0, delta }], ...more })
  const usage = { prompt_tokens: 3, completion_tokens: 2 }
  const called = { name: 'submit', arguments: '{"summary":"\\"error\\": null, \\\\"}' }
  const frames = (more: object, between: readonly string[] = []) => [
    chunk({ role: 'assistant', content: 'It said "error":' }, more),
    ...between,
    chunk({ content: 'null and {"error": null}.' }, more),
    chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: called }] }, more),
    ...between,
    sse({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }], ...more }),
    sse({ id: 'x', choices: [], usage, ...more }),
    sse('[DONE]'),
  ]

  test.each([
    ['says in every chunk that there was no error', frames({ error: null, IsDelta: false })],
    ['calls no error false', frames({ error: false })],
    ['calls no error an empty text', frames({ error: '' })],
    [
      'puts chunks of nothing between the others',
      frames({}, ['data: null\n\n', 'data:null\r\n\r\n']),
    ],
    [
      'writes its JSON in its own way',
      frames({ error: null }).map((one) => one.replaceAll('"error":null', '"error" : null')),
    ],
  ])('may be one that %s', async (_, sent) => {
    const bytes = Buffer.from(sent.join(''))
    for (const size of [bytes.length, 7]) {
      const events = await read('openai-compatible', split(bytes, size))
      expect(textOf(events)).toBe('It said "error":null and {"error": null}.')
      expect(only(events, 'tool_call')).toMatchObject([
        { call: { name: 'submit', input: { summary: '"error": null, \\' } } },
      ])
      expect(only(events, 'usage')).toMatchObject([{ usage: { inputTokens: 3, outputTokens: 2 } }])
      expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'tool_calls' })
    }
  })
})

describe('an empty text for the reason of an end', () => {
  const chunk = (delta: object, reason: string | null = '') =>
    sse({ id: 'x', choices: [{ index: 0, delta, finish_reason: reason }] })
  const said = '"finish_reason":"" or "finish_reason": "stop"'
  const text = [chunk({ role: 'assistant', content: '' }), chunk({ content: said })]
  const called = { name: 'submit', arguments: '{"summary":"A"}' }
  const call = chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: called }] })
  const usage = sse({ id: 'x', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } })
  const done = sse('[DONE]')

  /** The same, whole and in pieces. */
  async function readBoth(frames: readonly string[]): Promise<BrainEvent[]> {
    const bytes = Buffer.from(frames.join(''))
    const whole = await read('openai-compatible', split(bytes, bytes.length))
    expect(await read('openai-compatible', split(bytes, 7))).toEqual(whole)
    return whole
  }

  test.each([
    ['in a text', text],
    ['after a call', [...text, call]],
    ['after what was used so far', [...text, call, usage]],
    ['in the last event', [...text, call, 'data: [DO']],
    ['where it had no reason at all', [chunk({ content: 'A' }, null), done]],
  ])('is none: the reply breaks off %s', async (_, frames) => {
    const events = await readBoth(frames)
    expect(only(events, 'tool_call')).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'network' } })
  })

  test.each([
    ['a text', 'stop', [...text, done]],
    ['a call', 'tool_calls', [...text, call, usage, done]],
    ['a call, in other lines', 'tool_calls', [...text, call, 'data:[DONE]\r\n\r\n']],
    ['a call, without an end of the line', 'tool_calls', [...text, call, 'data: [DONE]']],
    ['a reason', 'length', [...text, chunk({}, 'length'), chunk({}), usage, done]],
    [
      'a call and a reason',
      'tool_calls',
      [...text, call, chunk({}, 'tool_calls'), chunk({}), done],
    ],
  ])('takes nothing from a reply that is said to be all: %s', async (_, reason, frames) => {
    const events = await readBoth(frames)
    expect(textOf(events)).toBe(said)
    expect(only(events, 'tool_call')).toHaveLength(reason === 'tool_calls' ? 1 : 0)
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason })
  })
})

describe('a model without a name', () => {
  test('that Azure begins with is the one that was asked', async () => {
    const filtered = { id: '', model: '', choices: [], prompt_filter_results: [] }
    const answer = { index: 0, delta: { content: 'A' }, finish_reason: 'stop' }
    const frames = [sse(filtered), sse({ id: 'x', model: 'm', choices: [answer] }), sse('[DONE]')]
    const events = await read('openai-compatible', frames)
    expect(events.at(-1)).toMatchObject({
      type: 'finished',
      model: subjectOf('openai-compatible').model,
    })
  })

  test('is the one that was asked at Google too', async () => {
    const content = { role: 'model', parts: [{ text: 'A' }] }
    const candidates = [{ index: 0, content, finishReason: 'STOP' }]
    const events = await read('google', [sse({ candidates, modelVersion: '' })])
    expect(events.at(-1)).toMatchObject({ type: 'finished', model: subjectOf('google').model })
  })
})

/** The same bytes, so many at a time. */
function split(bytes: Buffer, size: number): string[] {
  const count = Math.ceil(bytes.length / size)
  return Array.from({ length: count }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size).toString('latin1'),
  )
}

describe('a second answer, which nobody asked for', () => {
  const chunk = (index: number, delta: object, reason: string | null = null) =>
    sse({ id: 'x', created: 1, model: 'm', choices: [{ index, delta, finish_reason: reason }] })
  const calling = (id: string) => {
    const called = { name: 'submit', arguments: `{"summary":"${id}"}` }
    return { tool_calls: [{ index: 0, id, type: 'function', function: called }] }
  }
  const unusable = { type: 'failed', failure: { kind: 'invalid_output' } }

  test.each([
    ['text', { content: 'A' }, { content: 'B' }, 'stop'],
    ['calls', calling('a'), calling('b'), 'tool_calls'],
  ])('makes a reply unusable: %s', async (_, first, second, reason) => {
    const both = [chunk(0, first), chunk(1, second)]
    for (const frames of [both, both.toReversed()]) {
      const end = [chunk(0, {}, reason), chunk(1, {}, reason), sse('[DONE]')]
      const events = await read('openai-compatible', [...frames, ...end])
      expect(events.at(-1)).toMatchObject(unusable)
      expect(textOf(events)).not.toContain('B')
      expect(only(events, 'tool_call')).toEqual([])
    }
  })

  test('makes one of Google unusable too', async () => {
    const candidate = (index: number, text: string, more: object = {}) =>
      sse({ candidates: [{ index, content: { role: 'model', parts: [{ text }] }, ...more }] })
    const end = candidate(0, '.', { finishReason: 'STOP' })
    const events = await read('google', [candidate(0, 'A'), candidate(1, 'B'), end])
    expect(events.at(-1)).toMatchObject(unusable)
    expect(textOf(events)).toBe('A')
  })

  test('is not one that is alone and has no number', async () => {
    const choices = (delta: object, reason: string | null) =>
      sse({ id: 'x', choices: [{ delta, finish_reason: reason }] })
    const frames = [choices({ content: 'A' }, null), choices({}, 'stop'), sse('[DONE]')]
    const events = await read('openai-compatible', frames)
    expect(textOf(events)).toBe('A')
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'stop' })
  })
})

describe('a line of Ollama', () => {
  const line = (value: object) => `${JSON.stringify(value)}\n`
  const word = (more: object) => line({ message: { role: 'assistant', content: 'A' }, ...more })

  test('may have an error in any form', async () => {
    const error = { message: 'too many requests' }
    const events = await read('ollama', [word({ done: false }), line({ error })])
    const failure = { kind: 'rate_limited', message: 'too many requests' }
    expect(events.at(-1)).toEqual({ type: 'failed', failure })
  })

  test.each([null, false, ''])('may say that there was none: %j', async (error) => {
    const events = await read('ollama', [word({ done: false, error }), word({ done: true, error })])
    expect(textOf(events)).toBe('AA')
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'stop' })
  })
})

describe('what a reply used', () => {
  const usageOf = async (provider: ApiSubject['provider'], frames: readonly string[]) => {
    const [told] = only(await read(provider, frames), 'usage')
    return [told?.usage.inputTokens, told?.usage.outputTokens]
  }
  const chat = (usage: object) => [
    sse({ id: 'x', choices: [{ index: 0, delta: { content: 'A' }, finish_reason: 'stop' }] }),
    sse({ id: 'x', choices: [], usage }),
    sse('[DONE]'),
  ]
  /** Some gateways have these in every reply. */
  const NEWER_NAMES = {
    input_tokens: 0,
    output_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
  }
  const gemini = (usageMetadata: object) => {
    const content = { role: 'model', parts: [{ text: 'A' }] }
    return [sse({ candidates: [{ index: 0, content, finishReason: 'STOP' }], usageMetadata })]
  }

  test.each<[ApiSubject['provider'], readonly string[], readonly (number | null)[]]>([
    ['openai-compatible', chat({}), [null, null]],
    ['openai-compatible', chat({ total_tokens: 33 }), [null, null]],
    ['openai-compatible', chat({ prompt_tokens: 11 }), [11, null]],
    ['openai-compatible', chat({ completion_tokens: 22 }), [null, 22]],
    ['openai-compatible', chat({ prompt_tokens: 0, completion_tokens: 22 }), [null, 22]],
    ['openai-compatible', chat({ prompt_tokens: 11, completion_tokens: 22 }), [11, 22]],
    ['openai-compatible', chat({ input_tokens: 11, output_tokens: 22 }), [11, 22]],
    [
      'openai-compatible',
      chat({ ...NEWER_NAMES, prompt_tokens: 11, completion_tokens: 22 }),
      [11, 22],
    ],
    ['google', gemini({}), [null, null]],
    ['google', gemini({ totalTokenCount: 33 }), [null, null]],
    ['google', gemini({ promptTokenCount: 11, totalTokenCount: 33 }), [11, null]],
    ['google', gemini({ promptTokenCount: 11, candidatesTokenCount: 22 }), [11, 22]],
    ['google', gemini({ promptTokenCount: 11, thoughtsTokenCount: 5 }), [11, 5]],
  ])('is untold at %s where it does not say it: %j', async (provider, frames, told) => {
    expect(await usageOf(provider, frames)).toEqual(told)
  })

  test.each([
    [5, 3_005, 2_005],
    [0, 3_000, 2_000],
    [5, 1_005, 5],
    [5, 900, 5],
  ])('has what was reasoned, also beside %i in a total of %i', async (said, total, output) => {
    const told = { prompt_tokens: 1_000, completion_tokens: said, total_tokens: total }
    expect(await usageOf('openai-compatible', chat(told))).toEqual([1_000, output])
  })

  test.each([
    ['beside the others', { cached_tokens: 900 }],
    ['as DeepSeek does', { prompt_cache_hit_tokens: 900 }],
    ['in details', { prompt_tokens_details: { cached_tokens: 900 } }],
    ['under both names', { ...NEWER_NAMES, prompt_tokens_details: { cached_tokens: 900 } }],
  ])('has what was cached, told %s and wherever a server tells all of it', async (_, cached) => {
    const usage = { prompt_tokens: 1_000, completion_tokens: 5, ...cached }
    const text = { index: 0, delta: { content: 'A' }, finish_reason: '' }
    // As it grows, and as it ends.
    const choices = [
      { ...text, usage: { ...usage, completion_tokens: 1 } },
      { index: 0, delta: {}, finish_reason: 'stop', usage },
    ]
    const inChoice = [
      ...choices.map((choice) => sse({ id: 'x', choices: [choice] })),
      sse('[DONE]'),
    ]
    for (const frames of [chat(usage), inChoice]) {
      const [told] = only(await read('openai-compatible', frames), 'usage')
      expect(told?.usage).toMatchObject({ inputTokens: 1_000, cachedTokens: 900, outputTokens: 5 })
    }
  })

  test('is told by OpenAI also of a reply that failed', async () => {
    const usage = { input_tokens: 11, output_tokens: 22 }
    const error = { code: 'server_error', message: 'no' }
    const response = { id: 'r', status: 'failed', error, usage }
    expect(await usageOf('openai', [sse({ type: 'response.failed', response })])).toEqual([11, 22])
  })
})
