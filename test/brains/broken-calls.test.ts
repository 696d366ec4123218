import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BrainEvent, UNTOLD_USAGE } from '../../src/effects/brains/brain.ts'
import type { Answer } from '../providers/answer.ts'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import { API_SUBJECTS, openSubject, PATIENT, subjectOf } from './api-subjects.ts'
import { only, thinkThrough } from './turn.ts'

let server: ProviderServer

beforeAll(async () => {
  server = await startProviderServer()
})

afterAll(() => server.close())

const CALL = { type: 'call', name: 'read_file', input: { path: 'x'.repeat(60_000) } } as const
const BREAKAGES = ['cut', 'stalled', 'truncated', 'error_in_stream'] as const

test.each([{}, { arguments: null }])(
  'a call of Ollama with %j has an empty input',
  async (said) => {
    const api = subjectOf('ollama')
    const called = { function: { name: 'read_file', ...said } }
    const lines = [
      { message: { role: 'assistant', content: '', tool_calls: [called] }, done: false },
      { message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop' },
    ]
    const headers = { 'content-type': 'application/x-ndjson' }
    server.answer({ raw: lines.map((line) => `${JSON.stringify(line)}\n`), headers })
    const events = await thinkThrough(openSubject(api, server))
    expect(only(events, 'tool_call').map(({ call }) => call.input)).toEqual([{}])
  },
)

/** What a model used by its provider's word; nothing where it did not work at all. */
describe.each(API_SUBJECTS)('$provider', (api) => {
  const think = (answer: Answer): Promise<BrainEvent[]> => {
    server.answer(answer)
    return thinkThrough(openSubject(api, server, { ...PATIENT, idleMs: 500, firstTokenMs: 1_000 }))
  }

  test.each(BREAKAGES)('a reply of calls alone that is %s was worked on', async (broken) => {
    const events = await think({ broken, reply: { parts: [CALL, CALL] } })
    expect(events.at(-1)).toMatchObject({ type: 'failed' })
    const [told, ...others] = only(events, 'usage')
    expect(told?.usage).toMatchObject({ outputTokens: null })
    expect(others).toEqual([])
  })

  test('a call without an input has an empty one, and other calls have theirs', async () => {
    const [none, blank, nothing, other] = ['', ' \n', 'null', '{"path":"a"}'].map((text) => {
      return { type: 'bad_call', name: 'read_file', text } as const
    })
    for (const parts of [[none], [nothing], [none, other], [other, none, nothing, blank]]) {
      const called = parts.filter((part) => part !== undefined)
      const events = await think({ reply: { parts: called } })
      const inputs = only(events, 'tool_call').map(({ call }) => call.input)
      expect(inputs).toEqual(called.map((part) => (part === other ? { path: 'a' } : {})))
    }
  })

  test('one without content costs what its provider tells', async () => {
    const reply = { parts: [], end: 'refused', outputTokens: 7 } as const
    const events = await think({ reply })
    expect(events.at(-1)).toMatchObject({ type: 'failed' })
    expect(only(events, 'usage')).toMatchObject([{ usage: { outputTokens: 7 } }])
  })

  test('one that never came may have been worked on, once somebody took the request', async () => {
    const events = await think({ broken: 'silent' })
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'timeout' } })
    expect(only(events, 'usage')).toEqual([{ type: 'usage', usage: UNTOLD_USAGE }])
  })

  test.each<[string, Answer]>([
    ['is empty', { broken: 'empty' }],
    ['fails before it begins', { broken: 'error_in_stream', frames: 0 }],
    ['is the page of a proxy', { broken: 'html' }],
    ['is no stream', { raw: ['{"ok":true}'], headers: { 'content-type': 'application/json' } }],
    ['is late behind a gateway', { raw: ['{"error":{}}'], status: 504, headers: {} }],
    ['is refused', { raw: ['{"error":{}}'], status: 429, headers: {} }],
  ])('one that %s was not', async (_, answer) => {
    const events = await think(answer)
    expect(events.at(-1)).toMatchObject({ type: 'failed' })
    expect(only(events, 'usage')).toEqual([])
  })

  test('nobody has worked on what nobody took', async () => {
    const gone = await startProviderServer()
    await gone.close()
    const events = await thinkThrough(openSubject(api, gone))
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'network' } })
    expect(only(events, 'usage')).toEqual([])
  })
})
