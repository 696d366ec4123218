import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Brain, Message, ToolResult, Turn, Usage } from '../../src/effects/brains/brain.ts'
import type { Reply } from '../providers/answer.ts'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import { API_SUBJECTS, openSubject } from './api-subjects.ts'
import { only, TURN, textOf, thinkThrough } from './turn.ts'

let server: ProviderServer

beforeEach(async () => {
  server = await startProviderServer()
})

afterEach(() => server.close())

/** As long as those of a coder: 6,000 tokens of instructions, 12 tools, a story with its plan. */
const CODER: Turn = {
  ...TURN,
  system: 'Work in small steps, and run the tests after each of them. '.repeat(400),
  tools: Array.from({ length: 12 }, (_, index) => ({
    name: `tool_${index}`,
    description: 'What it does and when to use it is said here in some detail. '.repeat(14),
    input: { type: 'object', properties: { path: { type: 'string' } } },
  })),
  messages: [{ role: 'user', text: 'The story, its criteria and the plan. '.repeat(200) }],
}

/** A conversation in which every turn calls tools and is given their results. */
async function converse(brain: Brain, turns: number, callsPerTurn: number): Promise<Usage[]> {
  const messages: Message[] = [...CODER.messages]
  const usages: Usage[] = []
  for (let number = 1; number <= turns; number += 1) {
    const events = await thinkThrough(brain, { ...CODER, number, messages })
    const toolCalls = only(events, 'tool_call').map(({ call }) => call)
    expect(toolCalls).toHaveLength(callsPerTurn)
    const [told] = only(events, 'usage')
    if (told !== undefined) usages.push(told.usage)
    const [finished] = only(events, 'finished')
    messages.push({
      role: 'assistant',
      text: textOf(events),
      toolCalls,
      ...(finished?.opaque === undefined ? {} : { opaque: finished.opaque }),
    })
    messages.push({ role: 'tool', results: toolCalls.map(resultOf) })
  }
  return usages
}

function resultOf({ id, name }: { id: string; name: string }): ToolResult {
  return { id, name, text: `contents of a file for ${id} `.repeat(40), isError: false }
}

function replyWith(callsPerTurn: number, number: number): Reply {
  const calls = Array.from({ length: callsPerTurn }, (_, index) => ({
    type: 'call' as const,
    name: `tool_${index % 12}`,
    input: { path: `src/file-${number}-${index}.ts` },
  }))
  return {
    parts: [
      { type: 'reasoning', text: `What is in the files of turn ${number} decides.` },
      { type: 'text', text: `I read them, for the ${number}. time.` },
      ...calls,
    ],
  }
}

function sum(usages: readonly Usage[], of: 'inputTokens' | 'cachedTokens'): number {
  return usages.reduce((total, usage) => total + (usage[of] ?? 0), 0)
}

test.each(API_SUBJECTS.filter(({ provider }) => provider !== 'ollama'))(
  '$provider serves over 95% of 30 turns from its cache',
  async (api) => {
    server.answer(({ number }) => ({ reply: replyWith(1, number) }))
    const usages = await converse(openSubject(api, server), 30, 1)
    const share = sum(usages, 'cachedTokens') / sum(usages, 'inputTokens')
    expect(share).toBeGreaterThan(0.95)
    // Nothing that was sent before is paid for again: what is marked is all that could be.
    for (const { number, cachedTokens, commonTokens } of server.requests) {
      if (number > 1) expect(cachedTokens).toBe(commonTokens)
    }
    const seen = server.requests.map(({ inputTokens, cachedTokens }) => [inputTokens, cachedTokens])
    expect(usages.map(({ inputTokens, cachedTokens }) => [inputTokens, cachedTokens])).toEqual(seen)
  },
)

test('Ollama is sent what it was sent before, and more, though it does not say so', async () => {
  server.answer(({ number }) => ({ reply: replyWith(1, number) }))
  const api = API_SUBJECTS.find(({ provider }) => provider === 'ollama') ?? API_SUBJECTS[0]
  if (api === undefined) throw new Error('no subject')
  const usages = await converse(openSubject(api, server), 10, 1)
  expect(usages.map(({ cachedTokens }) => cachedTokens)).toEqual(Array(10).fill(null))
  for (const [index, { commonTokens }] of server.requests.entries()) {
    if (index > 0) expect(commonTokens).toBe(server.requests[index - 1]?.inputTokens)
  }
})

test('Anthropic finds its prefix behind a turn with 30 calls, further back than it looks', async () => {
  server.answer(({ number }) => ({ reply: replyWith(30, number) }))
  const [api] = API_SUBJECTS
  if (api === undefined) throw new Error('no subject')
  await converse(openSubject(api, server), 4, 30)
  for (const { number, cachedTokens, commonTokens } of server.requests) {
    if (number > 1) expect(cachedTokens).toBe(commonTokens)
  }
})

test('Anthropic is given four marks: the tools, the system prompt and two messages', async () => {
  server.answer(({ number }) => ({ reply: replyWith(1, number) }))
  const [api] = API_SUBJECTS
  if (api === undefined) throw new Error('no subject')
  await converse(openSubject(api, server), 3, 1)
  const body = server.requests.at(-1)?.body
  const marksIn = (list: unknown) =>
    (list as unknown[]).map((value) => JSON.stringify(value).includes('"cache_control"'))
  expect(marksIn(body?.tools)).toEqual([...Array(11).fill(false), true])
  expect(marksIn(body?.system)).toEqual([true])
  expect(marksIn(body?.messages)).toEqual([false, false, true, false, true])
})
