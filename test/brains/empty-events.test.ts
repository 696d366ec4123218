import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BrainEvent } from '../../src/effects/brains/brain.ts'
import type { Reply } from '../providers/answer.ts'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import { WIRES } from '../providers/wires.ts'
import { API_SUBJECTS, type ApiSubject, openSubject } from './api-subjects.ts'
import { breachIn, only, textOf, thinkThrough } from './turn.ts'

let server: ProviderServer

beforeAll(async () => {
  server = await startProviderServer()
})

afterAll(() => server.close())

/** By these a gateway keeps a connection alive, whoever is behind it. */
const EMPTY = ['data:\n\n', 'data: \n\n', 'data\n\n', 'event: ping\ndata: \n\n', 'data: null\n\n']

const STREAMING = API_SUBJECTS.filter(({ provider }) => provider !== 'ollama')

const REPLY: Reply = {
  parts: [
    { type: 'text', text: 'Ça va 😀.' },
    { type: 'call', name: 'submit', input: { summary: 'data:\n\ndata: null\n\n' } },
  ],
}

function framesOf({ wire: name, model }: ApiSubject): readonly string[] {
  const wire = WIRES.find((one) => one.name === name)
  const tokens = { inputTokens: 30, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 20 }
  const body = { stream_options: { include_usage: true } }
  return wire?.framesOf(REPLY, { number: 1, model, ...tokens, body }) ?? []
}

/** What a turn comes to when that is sent, so many bytes at a time. */
async function read(api: ApiSubject, text: string, size: number): Promise<BrainEvent[]> {
  const bytes = Buffer.from(text)
  const raw = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )
  server.answer({ raw, headers: { 'content-type': 'text/event-stream' } })
  const events = await thinkThrough(openSubject(api, server))
  expect(breachIn(events)).toBeUndefined()
  return events
}

describe.each(STREAMING)('an event of nothing from $provider', (api) => {
  test.each(['\n', '\r\n', '\r'])('is passed over, with lines that end in %j', async (end) => {
    const frames = framesOf(api).flatMap((frame) => [...EMPTY, frame])
    const text = [...frames, ...EMPTY].join('').replaceAll('\n', end)
    for (const size of [text.length * 2, 1_000, 7]) {
      const events = await read(api, text, size)
      expect(textOf(events)).toBe('Ça va 😀.')
      expect(only(events, 'tool_call')).toMatchObject([
        { call: { name: 'submit', input: { summary: 'data:\n\ndata: null\n\n' } } },
      ])
      expect(only(events, 'usage')).toMatchObject([
        { usage: { inputTokens: 30, outputTokens: 20 } },
      ])
      expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'tool_calls' })
    }
  })

  test('is told apart from a reply that breaks off', async () => {
    const [first = ''] = framesOf(api)
    const events = await read(api, [first, ...EMPTY, 'data:'].join(''), 7)
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'network' } })
  })
})
