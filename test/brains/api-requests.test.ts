import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openApiBrain } from '../../src/effects/brains/api-brain.ts'
import type { Message, Turn } from '../../src/effects/brains/brain.ts'
import { calls } from '../providers/answer.ts'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import { API_SUBJECTS, type ApiSubject, openSubject, subjectOf } from './api-subjects.ts'
import { only, TURN, textOf, thinkThrough } from './turn.ts'

let server: ProviderServer

beforeAll(async () => {
  server = await startProviderServer()
})

afterAll(() => server.close())

beforeEach(() => server.answer(calls('submit', {})))

/** What the provider was sent for that turn. */
async function bodyFor(api: ApiSubject, turn: Turn): Promise<Record<string, unknown>> {
  await thinkThrough(openSubject(api, server), turn)
  return { ...server.requests.at(-1)?.body }
}

describe.each(API_SUBJECTS)('every request to $provider', (api) => {
  test('has the model, the limit and the tools, and no sampling parameters', async () => {
    const body = JSON.stringify(await bodyFor(api, TURN))
    expect(server.requests.at(-1)).toMatchObject({ wire: api.wire, model: api.model })
    expect(body).toContain('4096')
    expect(body.indexOf('"read_file"')).toBeLessThan(body.indexOf('"submit"'))
    expect(body).not.toMatch(/temperature|top_?p|top_?k|penalty|seed/i)
  })

  test('is the same for the same turn', async () => {
    expect(JSON.stringify(await bodyFor(api, TURN))).toBe(JSON.stringify(await bodyFor(api, TURN)))
  })

  test('takes empty texts, empty results, broken inputs and half characters', async () => {
    const messages: readonly Message[] = [
      { role: 'user', text: '' },
      { role: 'assistant', text: ' ', toolCalls: [] },
      {
        role: 'assistant',
        text: '',
        toolCalls: [
          { id: 'a', name: 'read_file', input: '{"path": ' },
          { id: 'b', name: 'read_file', input: { path: 'half \ud83d of one' } },
        ],
      },
      {
        role: 'tool',
        results: [
          { id: 'a', name: 'read_file', text: '', isError: true },
          {
            id: 'b',
            name: 'read_file',
            text: 'half \udc00 of another, and \\ud800',
            isError: false,
          },
        ],
      },
    ]
    const body = await bodyFor(api, { ...TURN, system: '', messages })
    const text = JSON.stringify(body)
    expect(text).toContain('(empty)')
    expect(text).toContain('unreadable_input')
    // Written out it would be an escape, and what is half stays half.
    expect(text).not.toMatch(/(?<!\\)\\ud[89a-f]/)
    expect(text).toContain('\\\\ud800')
    expect(text).toContain('\ufffd of another')
  })

  test('forces the tool that has to be called', async () => {
    const body = JSON.stringify(await bodyFor(api, { ...TURN, forcedTool: 'submit' }))
    const forced = {
      anthropic: '"tool_choice":{"type":"tool","name":"submit"}',
      'openai-responses': '"tool_choice":{"type":"function","name":"submit"}',
      'openai-chat': '"tool_choice":{"type":"function","function":{"name":"submit"}}',
      gemini: '"mode":"ANY","allowedFunctionNames":["submit"]',
      ollama: '"tools":[{"type":"function","function":{"name":"submit"',
    }
    expect(body).toContain(forced[api.wire])
  })

  test('lets no tool be called where only words are wanted', async () => {
    const body = JSON.stringify(await bodyFor(api, { ...TURN, isToolless: true }))
    const none = {
      anthropic: '"tool_choice":{"type":"none"}',
      'openai-responses': '"tool_choice":"none"',
      'openai-chat': '"tool_choice":"none"',
      gemini: '"functionCallingConfig":{"mode":"NONE"}',
      // It takes no choice, so nothing is on offer.
      ollama: '"num_predict":4096',
    }
    expect(body).toContain(none[api.wire])
    // What a cache holds begins with the tools: where they can stay, they do.
    expect(body.includes('"read_file"')).toBe(api.wire !== 'ollama')
  })

  test('without tools is one without a choice of tools', async () => {
    const body = JSON.stringify(await bodyFor(api, { ...TURN, tools: [] }))
    expect(body).not.toMatch(/tool_choice|toolConfig|"tools"/)
  })
})

/** Ids of calls that another provider gave, of which some refuse a conversation. */
const ODD_IDS = ['functions.read_file:0', 'functions.read_file:1', `call_${'x'.repeat(100)}`]

test.each(API_SUBJECTS)('$provider is sent ids of calls that it takes', async (api) => {
  const toolCalls = ODD_IDS.map((id) => ({ id, name: 'read_file', input: {} }))
  const results = ODD_IDS.map((id) => ({ id, name: 'read_file', text: 'x', isError: false }))
  const messages: Message[] = [
    ...TURN.messages,
    { role: 'assistant', text: '', toolCalls },
    { role: 'tool', results },
  ]
  const body = JSON.stringify(await bodyFor(api, { ...TURN, messages }))
  const sent = [...body.matchAll(/"(?:call_id|id|tool_use_id|tool_call_id)":"([^"]+)"/g)]
  const ids = sent.map(([, id = '']) => id)
  // Some know no ids; a model behind any other address may read them, and has them as it gave them.
  const isStrict = api.provider === 'anthropic' || api.provider === 'openai'
  if (isStrict) expect(ids.filter((id) => !/^[a-zA-Z0-9_-]{1,64}$/.test(id))).toEqual([])
  if (api.provider === 'openai-compatible') expect(new Set(ids)).toEqual(new Set(ODD_IDS))
  // Each call has its result.
  expect(ids.slice(0, 3).toSorted()).toEqual(ids.slice(3).toSorted())
  expect(new Set(ids).size).toBe(ids.length / 2)
})

/** Says what the model said before, with what it wants to see again. */
async function secondTurn(api: ApiSubject, model = api.model): Promise<string> {
  server.answer({
    reply: {
      parts: [
        { type: 'reasoning', text: 'The file comes first.' },
        { type: 'text', text: 'I read it.' },
        { type: 'call', name: 'read_file', input: { path: 'a.ts' }, id: 'call-1' },
      ],
    },
  })
  const events = await thinkThrough(openSubject(api, server))
  const opaque = only(events, 'finished')[0]?.opaque
  const toolCalls = only(events, 'tool_call').map(({ call }) => call)
  const results = [{ id: 'call-1', name: 'read_file', text: 'x', isError: false }]
  const messages: Message[] = [
    ...TURN.messages,
    {
      role: 'assistant',
      text: textOf(events),
      toolCalls,
      opaque: JSON.parse(JSON.stringify(opaque)),
    },
    { role: 'tool', results },
  ]
  const { url } = server
  await thinkThrough(openApiBrain({ ...api.optionsFor(url), model }), { ...TURN, messages })
  return JSON.stringify(server.requests.at(-1)?.body)
}

describe('what a provider wants to see again', () => {
  const wanted = {
    anthropic: /"thinking":"The file comes first.","signature":"[^"]+"}.*"I read it.".*tool_use/,
    'openai-responses': /"encrypted_content":"[^"]+".*"I read it.".*"function_call"/,
    'openai-chat': /"reasoning_content":"The file comes first."/,
    // What our server signs begins like this; the library has a word of its own for no signature.
    gemini: /"functionCall":.*"thoughtSignature":"c2lnbmVk/,
    ollama: /"thinking":"The file comes first."/,
  }

  test.each(API_SUBJECTS)('$provider gets it in its place', async (api) => {
    expect(await secondTurn(api)).toMatch(wanted[api.wire])
  })

  test.each(API_SUBJECTS)('$provider does not get that of another model', async (api) => {
    const body = await secondTurn(api, `${api.model}-2`)
    expect(body).not.toMatch(wanted[api.wire])
    expect(body).toContain('I read it.')
    expect(body).toContain('a.ts')
  })

  test.each(API_SUBJECTS)('$provider gets no reasoning of which nothing came', async (api) => {
    const reasoning = { type: 'reasoning', text: 'Cut off in the mid' } as const
    server.answer({ reply: { parts: [reasoning], end: 'length' } })
    const [finished] = only(await thinkThrough(openSubject(api, server)), 'finished')
    expect(finished).toMatchObject({ reason: 'length' })
    expect(finished).not.toHaveProperty('opaque')
    // One of these may be in a conversation that was kept before, or have lost what followed it.
    const meta = {
      anthropic: { signature: 'x' },
      openai: { itemId: 'rs_1', reasoningEncryptedContent: 'x' },
      google: { thoughtSignature: 'x' },
    }
    const opaque = { from: `${api.provider}/${api.model}`, parts: [{ ...reasoning, meta }] }
    const messages: Message[] = [
      ...TURN.messages,
      { role: 'assistant', text: '', toolCalls: [], opaque },
      { role: 'user', text: 'Your reply was cut off.' },
    ]
    const body = JSON.stringify(await bodyFor(api, { ...TURN, messages }))
    expect(body).toContain('Your reply was cut off.')
    expect(body).not.toMatch(/Cut off in the mid|rs_1/)
  })

  test('is left out when the provider does not take it back, and then at once', async () => {
    const api = subjectOf('anthropic')
    await secondTurn(api)
    const before = server.requests.length
    const message = 'messages.1.content.0: Invalid `signature` in `thinking` block'
    const error = { type: 'error', error: { type: 'invalid_request_error', message } }
    server.answer(({ body }) =>
      JSON.stringify(body).includes('"signature"')
        ? { raw: [JSON.stringify(error)], status: 400 }
        : calls('submit', {}),
    )
    const shape = {
      from: `anthropic/${api.model}`,
      parts: [signed('old'), { type: 'text', chars: 2 }],
    }
    const messages: Message[] = [
      ...TURN.messages,
      { role: 'assistant', text: 'ok', toolCalls: [], opaque: shape },
      { role: 'user', text: 'Go on.' },
    ]
    const brain = openSubject(api, server)
    const longer: Message[] = [
      ...messages,
      { role: 'assistant', text: 'on', toolCalls: [], opaque: { ...shape, parts: [] } },
      { role: 'user', text: 'And on.' },
    ]
    for (const [said, asked] of [
      [messages, 2],
      [longer, 3],
    ] as const) {
      const events = await thinkThrough(brain, { ...TURN, messages: said })
      expect(events.at(-1)).toMatchObject({ type: 'finished' })
      expect(server.requests.length - before).toBe(asked)
    }
    // Another conversation is not that one.
    const other = { ...shape, parts: [signed('other'), { type: 'text', chars: 2 }] }
    const elsewhere: Message[] = [
      ...TURN.messages,
      { role: 'assistant', text: 'ok', toolCalls: [], opaque: other },
      { role: 'user', text: 'Go on.' },
    ]
    await thinkThrough(brain, { ...TURN, messages: elsewhere })
    expect(server.requests.length - before).toBe(5)
  })
})

function signed(signature: string): object {
  return { type: 'reasoning', text: 'Hm.', meta: { anthropic: { signature } } }
}

test('Ollama is told the size of the context, and not to shorten what is too long', async () => {
  const body = await bodyFor(subjectOf('ollama'), TURN)
  expect(body).toMatchObject({
    options: { num_ctx: 32_768, num_predict: 4_096 },
    truncate: false,
    shift: false,
  })
})

test('who can hold a call to its form is told to, and nobody else', async () => {
  const [tool, ...others] = TURN.tools
  if (tool === undefined) throw new Error('there is no tool')
  const turn: Turn = { ...TURN, tools: [...others, { ...tool, isStrict: true }] }
  // The library knows by the name which models can.
  const claude = { ...subjectOf('anthropic'), model: 'claude-sonnet-4-5' }
  const options = { ...claude.optionsFor(server.url), model: claude.model }
  await thinkThrough(openApiBrain(options), turn)
  const strictIn = (body: unknown) => JSON.stringify(body).match(/"strict":true/g)?.length ?? 0
  expect(strictIn(server.requests.at(-1)?.body)).toBe(1)
  expect(strictIn(await bodyFor(subjectOf('openai'), turn))).toBe(1)
  expect(JSON.stringify(await bodyFor(subjectOf('google'), turn))).toContain('"VALIDATED"')
  for (const provider of ['openai-compatible', 'ollama'] as const) {
    expect(strictIn(await bodyFor(subjectOf(provider), turn))).toBe(0)
  }
})

test('OpenAI keeps nothing, takes schemas as they are, and gets a key for its cache', async () => {
  const body = await bodyFor(subjectOf('openai'), TURN)
  expect(body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
  expect(body.prompt_cache_key).toMatch(/^[0-9a-f]{32}$/)
  expect(JSON.stringify(body.tools)).toContain('"strict":false')
  const other = await bodyFor(subjectOf('openai'), { ...TURN, story: 'S2' })
  expect(other.prompt_cache_key).not.toBe(body.prompt_cache_key)
})
