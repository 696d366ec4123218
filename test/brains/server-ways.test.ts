import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Message, Turn } from '../../src/effects/brains/brain.ts'
import { type Answer, says } from '../providers/answer.ts'
import { type ProviderServer, type SeenRequest, startProviderServer } from '../providers/server.ts'
import { listIn, sse } from '../providers/wire.ts'
import { openSubject, subjectOf } from './api-subjects.ts'
import { breachIn, only, TURN, textOf, thinkThrough } from './turn.ts'

let server: ProviderServer

beforeEach(async () => {
  server = await startProviderServer()
})

afterEach(() => server.close())

const open = () => openSubject(subjectOf('openai-compatible'), server)

const refusal = (error: unknown, status = 400): Answer => ({
  raw: [JSON.stringify(error)],
  status,
})

const messagesIn = ({ body }: SeenRequest) => listIn(body.messages)
const rolesIn = (request: SeenRequest) => messagesIn(request).map(({ role }) => role)

/** A call and its result. */
function step(id: string, opaque?: object): Message[] {
  const call = { id, name: 'read_file', input: { path: 'a.ts' } }
  const results = [{ id, name: 'read_file', text: 'x', isError: false }]
  return [
    { role: 'assistant', text: '', toolCalls: [call], ...(opaque && { opaque }) },
    { role: 'tool', results },
  ]
}

const saying = (...messages: readonly Message[]): Turn => ({ ...TURN, messages })
const told = (text: string): Message => ({ role: 'user', text })

describe('a server that is strict about the order of roles', () => {
  const MISTRAL = refusal({
    object: 'error',
    message: "Unexpected role 'user' after role 'tool'",
    type: 'invalid_request_message_order',
    param: null,
    code: '3230',
  })
  const sentence = 'After the optional system message, conversation roles must alternate'
  const TEMPLATE = refusal({
    object: 'error',
    message: `${sentence} user/assistant/...`,
    code: 400,
  })
  const LLAMA_CPP = refusal(
    { error: { code: 500, message: `Jinja Exception: ${sentence}.`, type: 'server_error' } },
    500,
  )

  /** It takes no message of the user after one of the user, nor after a result. */
  function strict(refused: Answer): void {
    server.answer((request) =>
      /user user|tool user/.test(rolesIn(request).join(' ')) ? refused : says('Fine.'),
    )
  }

  const AFTER_RESULT = saying(told('The story.'), ...step('c1'), told('The tests fail.'))
  const SUMMED_UP = saying(told('The story.'), told('The summary.'), ...step('c1'))

  test.each([
    ['Mistral', MISTRAL],
    ['a chat template', TEMPLATE],
    ['llama.cpp', LLAMA_CPP],
  ])('%s: is asked in that order, and from then on at once', async (_, refused) => {
    strict(refused)
    const brain = open()
    const events = await thinkThrough(brain, AFTER_RESULT)
    expect(breachIn(events)).toBeUndefined()
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
    // What was refused cost nothing.
    expect(only(events, 'usage')).toHaveLength(1)
    expect(server.requests.map(rolesIn)).toEqual([
      ['system', 'user', 'assistant', 'tool', 'user'],
      ['system', 'user', 'assistant', 'tool', 'assistant', 'user'],
    ])
    const again = await thinkThrough(brain, SUMMED_UP)
    expect(again.at(-1)).toMatchObject({ type: 'finished' })
    expect(server.requests).toHaveLength(3)
    expect(messagesIn(server.requests[2] as SeenRequest)).toMatchObject([
      { role: 'system' },
      { role: 'user', content: 'The story.\n\nThe summary.' },
      { role: 'assistant' },
      { role: 'tool' },
    ])
  })

  test('is sent what it was sent before, and more', async () => {
    strict(MISTRAL)
    const brain = open()
    const said = AFTER_RESULT.messages
    await thinkThrough(brain, AFTER_RESULT)
    await thinkThrough(brain, saying(...said, ...step('c2'), told('They still do.')))
    const [, before = [], after = []] = server.requests.map(messagesIn)
    expect(after.slice(0, before.length)).toEqual(before)
  })

  test('that refuses every order is asked twice', async () => {
    server.answer(MISTRAL)
    const events = await thinkThrough(open(), AFTER_RESULT)
    expect(events).toMatchObject([{ type: 'failed', failure: { kind: 'rejected' } }])
    expect(server.requests).toHaveLength(2)
  })

  test('others are asked as ever', async () => {
    await thinkThrough(open(), AFTER_RESULT)
    expect(server.requests.map(rolesIn)).toEqual([['system', 'user', 'assistant', 'tool', 'user']])
  })
})

describe('a server that wants something reasoned with every call', () => {
  const reasoned = (id: string, text: string) => ({
    from: 'openai-compatible/local-test',
    parts: [
      { type: 'reasoning', text },
      { type: 'call', id },
    ],
  })
  const reasoningIn = (request: SeenRequest) =>
    messagesIn(request)
      .filter(({ role }) => role === 'assistant')
      .map((message) => message.reasoning_content)

  const KIMI =
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2'
  const DEEPSEEK = 'The `reasoning_content` in the thinking mode must be passed back to the API.'
  const OTHER = 'Missing `reasoning_content` field in the assistant message at message index 3.'

  /** It takes an empty one for none. */
  function thinking(message: string): void {
    server.answer((request) =>
      reasoningIn(request).some((text) => text === undefined || text === '')
        ? refusal({ error: { message, type: 'invalid_request_error' } })
        : says('Fine.'),
    )
  }

  const BARE = saying(told('The story.'), ...step('c1', reasoned('c1', 'First.')), ...step('c2'))

  test('and is strict about the order of roles has both', async () => {
    const order = refusal({ message: "Unexpected role 'user' after role 'tool'" })
    const bare = refusal({ error: { message: OTHER, type: 'invalid_request_error' } })
    server.answer((request) => {
      if (/tool user/.test(rolesIn(request).join(' '))) return order
      return reasoningIn(request).some((text) => !text) ? bare : says('Fine.')
    })
    const turn = saying(told('The story.'), ...step('c1'), told('The tests fail.'))
    const events = await thinkThrough(open(), turn)
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
    expect(server.requests).toHaveLength(3)
  })

  test.each([KIMI, DEEPSEEK, OTHER])('%s', async (message) => {
    thinking(message)
    const brain = open()
    const events = await thinkThrough(brain, BARE)
    expect(breachIn(events)).toBeUndefined()
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
    // What was reasoned stays.
    expect(server.requests.map(reasoningIn)).toEqual([
      ['First.', undefined],
      ['First.', ' '],
    ])
    // A conversation that was cut may have nothing reasoned in it at all.
    const cut = saying(told('The story.'), ...step('c1'), ...step('c2'))
    expect((await thinkThrough(brain, cut)).at(-1)).toMatchObject({ type: 'finished' })
    expect(server.requests.slice(2).map(reasoningIn)).toEqual([[' ', ' ']])
  })

  test('one that takes back nothing of it is asked without it', async () => {
    server.answer((request) =>
      reasoningIn(request).some((text) => text !== undefined)
        ? refusal({ error: { message: 'reasoning_content is not allowed in messages' } })
        : says('Fine.'),
    )
    expect((await thinkThrough(open(), BARE)).at(-1)).toMatchObject({ type: 'finished' })
    expect(server.requests.map(reasoningIn)).toEqual([
      ['First.', undefined],
      [undefined, undefined],
    ])
  })
})

describe('a server that knows the limit of a reply by another name', () => {
  const AZURE = refusal({
    error: {
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      type: 'invalid_request_error',
      param: 'max_tokens',
      code: 'unsupported_parameter',
    },
  })
  const limitsIn = ({ body }: SeenRequest) => [body.max_tokens, body.max_completion_tokens]

  test('is told it by that name, and from then on at once', async () => {
    server.answer(({ body }) => (body.max_tokens === undefined ? says('Fine.') : AZURE))
    const brain = open()
    for (const asked of [2, 3]) {
      const events = await thinkThrough(brain)
      expect(breachIn(events)).toBeUndefined()
      expect(events.at(-1)).toMatchObject({ type: 'finished' })
      expect(server.requests).toHaveLength(asked)
    }
    expect(server.requests.map(limitsIn)).toEqual([
      [4_096, undefined],
      [undefined, 4_096],
      [undefined, 4_096],
    ])
  })

  test('that finds it too high is asked once', async () => {
    const message = 'max_tokens is too large: 4096. This model supports at most 2048 tokens.'
    server.answer(refusal({ error: { message } }))
    const events = await thinkThrough(open())
    expect(events).toMatchObject([{ type: 'failed', failure: { kind: 'rejected' } }])
    expect(server.requests).toHaveLength(1)
  })
})

describe('a server that does not take the wish to be told what was used', () => {
  const place = ['body', 'stream_options', 'include_usage']
  const detail = [{ type: 'extra_forbidden', loc: place, msg: 'Extra inputs are not permitted' }]
  const nested = JSON.stringify({ detail })
  const UNTOLD = { inputTokens: null, outputTokens: null }

  test.each([
    ['Mistral', refusal({ object: 'error', message: { detail }, type: 'invalid_request' }, 422)],
    ['a proxy of it', refusal({ object: 'error', message: nested, code: '1000' }, 422)],
    ['Foundry', refusal({ error: { code: 'Invalid input', message: nested, status: 422 } }, 422)],
    [
      'an older Azure',
      refusal({
        error: {
          message: 'Unrecognized request argument supplied: stream_options',
          type: 'invalid_request_error',
        },
      }),
    ],
  ])('%s: is asked without it, and from then on at once', async (_, refused) => {
    const choices = [{ index: 0, delta: { content: 'Fine.' }, finish_reason: 'stop' }]
    const uncounted: Answer = { raw: [sse({ id: 'x', choices }), sse('[DONE]')] }
    server.answer(({ body }) => (body.stream_options === undefined ? uncounted : refused))
    const brain = open()
    for (const asked of [2, 3]) {
      const events = await thinkThrough(brain)
      expect(breachIn(events)).toBeUndefined()
      expect(textOf(events)).toBe('Fine.')
      // What nobody tells is not nothing.
      expect(only(events, 'usage')).toMatchObject([{ usage: UNTOLD }])
      expect(events.at(-1)).toMatchObject({ type: 'finished' })
      expect(server.requests).toHaveLength(asked)
    }
    expect(server.requests.map(({ body }) => body.stream_options)).toEqual([
      { include_usage: true },
      undefined,
      undefined,
    ])
  })

  test('may tell it all the same', async () => {
    const choices = [{ index: 0, delta: { content: 'Fine.' }, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    const counted: Answer = { raw: [sse({ id: 'x', choices, usage }), sse('[DONE]')] }
    const refused = refusal({ error: { message: 'stream_options is not supported' } })
    server.answer(({ body }) => (body.stream_options === undefined ? counted : refused))
    const [told] = only(await thinkThrough(open()), 'usage')
    expect(told?.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 })
  })
})

test('a server that wants all of it otherwise is told one thing after the other', async () => {
  const refusing = (message: string) => refusal({ error: { message } })
  server.answer((request) => {
    const { body } = request
    if (body.stream_options !== undefined) return refusing('unknown field stream_options')
    if (body.max_tokens !== undefined) return refusing("'max_tokens': use 'max_completion_tokens'")
    if (/tool user/.test(rolesIn(request).join(' '))) return refusing('roles must alternate')
    const isBare = messagesIn(request).some(
      (message) => message.tool_calls !== undefined && message.reasoning_content === undefined,
    )
    if (isBare) return refusing('missing reasoning_content')
    return body.tool_choice === 'auto' ? says('Fine.') : refusing('Invalid tool_choice')
  })
  const brain = open()
  const turn = { ...saying(told('The story.'), ...step('c1'), told('Now.')), forcedTool: 'submit' }
  for (const asked of [7, 8]) {
    const events = await thinkThrough(brain, turn)
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
    expect(server.requests).toHaveLength(asked)
  }
  const [taken, again] = server.requests.slice(-2).map(({ body }) => JSON.stringify(body))
  expect(again).toBe(taken)
})
