import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { says } from './answer.ts'
import { PromptCache } from './prompt-cache.ts'
import { type ProviderServer, startProviderServer } from './server.ts'
import { block } from './wire.ts'

let server: ProviderServer

beforeAll(async () => {
  server = await startProviderServer()
})

afterAll(() => server.close())

beforeEach(() => server.answer(says('Hello.')))

/** Where each protocol is asked for one whole body, and with what. */
const WHOLE: readonly (readonly [string, string, object])[] = [
  ['anthropic', '/v1/messages', { model: 'm', messages: [] }],
  ['openai-chat', '/v1/chat/completions', { model: 'm', messages: [] }],
  ['openai-responses', '/v1/responses', { model: 'm', input: 'Hi' }],
  ['gemini', '/v1beta/models/m:generateContent', { contents: [] }],
  ['ollama', '/api/chat', { model: 'm', messages: [], stream: false }],
]

async function ask(path: string, body: object): Promise<string> {
  const init = { method: 'POST', body: JSON.stringify(body) }
  return (await fetch(`${server.url}${path}`, init)).text()
}

describe.each(WHOLE)('%s', (wire, path, body) => {
  test('answers whole when no stream is asked for', async () => {
    const whole = await ask(path, body)
    expect(JSON.parse(whole)).toBeTypeOf('object')
    expect(whole).toContain('Hello.')
    expect(server.requests.at(-1)).toMatchObject({ wire, model: 'm', isGivenUp: false })
  })

  test('answers with everything that a reply has', async () => {
    const call = { type: 'call', name: 'read_file', input: { path: 'a.ts' } } as const
    const text = { type: 'text', text: 'Both.' } as const
    server.answer({ reply: { parts: [text, call, { ...call, input: { path: 'b.ts' } }] } })
    expect(await ask(path, body)).toMatch(/Both\..*a\.ts.*b\.ts/)
  })
})

test('what clients ask besides', async () => {
  const counted = JSON.parse(await ask('/v1/messages/count_tokens', { messages: [] }))
  expect(counted.input_tokens).toBeGreaterThan(0)
  for (const path of ['/', '/v1/models', '/v1beta/models', '/api/tags', '/api/version']) {
    expect((await fetch(`${server.url}${path}`)).status).toBe(200)
  }
  expect((await fetch(`${server.url}/nowhere`)).status).toBe(404)
})

test('answers in turn are given once each', async () => {
  server.answerInTurn({ error: 'overloaded' }, says('One.'), says('Two.'))
  const said = []
  for (let turn = 0; turn < 4; turn += 1) said.push(await ask('/v1/messages', { messages: [] }))
  expect(said[0]).toContain('Overloaded')
  expect(said.slice(1).map((text) => /One|Two/.exec(text)?.[0])).toEqual(['One', 'Two', 'Two'])
})

describe('the cache', () => {
  const long = 'a long text of the system prompt '.repeat(200)
  const plain = [block('system', { text: long }), block('user', { text: 'Hi' })]
  const marked = [
    block('system', { text: long, cache_control: { type: 'ephemeral' } }),
    block('user', { text: 'Hi' }),
  ]

  test('serves a prefix by itself, or what was marked and no more', () => {
    const cache = new PromptCache()
    expect(cache.measure('a', plain, false).cachedTokens).toBe(0)
    const again = cache.measure('a', [...plain, block('user', { text: 'More' })], false)
    expect(again.cachedTokens).toBe(again.commonTokens)
    expect(again.cachedTokens).toBeGreaterThan(1_024)
    expect(cache.measure('b', plain, false).cachedTokens).toBe(0)
  })

  test('serves nothing without marks where marks are what counts', () => {
    const cache = new PromptCache()
    cache.measure('a', plain, true)
    expect(cache.measure('a', plain, true)).toMatchObject({ cachedTokens: 0, cacheWriteTokens: 0 })
    const written = cache.measure('a', marked, true)
    expect(written.cacheWriteTokens).toBeGreaterThan(1_024)
    expect(cache.measure('a', marked, true).cachedTokens).toBe(written.cacheWriteTokens)
    expect(cache.measure('a', plain, true).cachedTokens).toBe(0)
  })

  test('looks back no further than 20 blocks from a mark', () => {
    const filler = (count: number) =>
      Array.from({ length: count }, (_, index) => block('user', { text: `turn ${index}` }))
    const end = block('user', { text: 'end', cache_control: { type: 'ephemeral' } })
    const cache = new PromptCache()
    cache.measure('a', marked, true)
    expect(cache.measure('a', [...plain, ...filler(17), end], true).cachedTokens).toBeGreaterThan(0)
    expect(cache.measure('a', [...plain, ...filler(30), end], true).cachedTokens).toBe(0)
  })
})
