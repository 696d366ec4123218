import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Message, Turn } from '../../src/effects/brains/brain.ts'
import type { Answer } from '../providers/answer.ts'
import { type ProviderServer, type SeenRequest, startProviderServer } from '../providers/server.ts'
import { listIn, sse } from '../providers/wire.ts'
import { openSubject, subjectOf } from './api-subjects.ts'
import { only, TURN, textOf, thinkThrough } from './turn.ts'

let server: ProviderServer

beforeEach(async () => {
  server = await startProviderServer()
})

afterEach(() => server.close())

const open = () => openSubject(subjectOf('openai-compatible'), server)

/** A reply in those deltas. */
function replying(deltas: readonly object[], reason = 'tool_calls'): Answer {
  const chunk = (delta: object, finishReason: string | null = null) =>
    sse({ id: 'x', choices: [{ index: 0, delta, finish_reason: finishReason }] })
  return { raw: [...deltas.map((delta) => chunk(delta)), chunk({}, reason), sse('[DONE]')] }
}

function callOf(id: string, more: object = {}): object {
  const call = { name: 'read_file', arguments: '{"path":"a.ts"}' }
  return { tool_calls: [{ index: 0, id, type: 'function', ...more, function: call }] }
}

const assistantsIn = ({ body }: SeenRequest) =>
  listIn(body.messages).filter(({ role }) => role === 'assistant')

/** The turn after that one, as it is kept meanwhile. */
async function turnAfter(turn: Turn, brain = open()): Promise<Turn> {
  const events = await thinkThrough(brain, turn)
  const toolCalls = only(events, 'tool_call').map(({ call }) => call)
  const [finished] = only(events, 'finished')
  const said = { role: 'assistant', text: textOf(events), toolCalls, opaque: finished?.opaque }
  const results = toolCalls.map(({ id, name }) => ({ id, name, text: 'x', isError: false }))
  const kept: Message[] = JSON.parse(JSON.stringify([said, { role: 'tool', results }]))
  return { ...turn, number: turn.number + 1, messages: [...turn.messages, ...kept] }
}

test('Gemini behind a compatible address gets its signature with the call', async () => {
  const signed = { extra_content: { google: { thought_signature: 'SIGNED' } } }
  server.answer(replying([callOf('c1', signed)]))
  await thinkThrough(open(), await turnAfter(TURN))
  const [said] = assistantsIn(server.requests[1] as SeenRequest)
  expect(said).toMatchObject({ tool_calls: [{ id: 'c1', ...signed }] })
})

test('what a router says in details comes back whole, in its order', async () => {
  const format = 'google-gemini-v1'
  const text = { type: 'reasoning.text', format, index: 0 }
  const summary = { type: 'reasoning.summary', format, index: 1 }
  const encrypted = { type: 'reasoning.encrypted', data: 'SIGNED', format, index: 2, id: 'c1' }
  server.answer(
    replying([
      { reasoning: 'The file', reasoning_details: [{ ...text, text: 'The file' }] },
      { reasoning: ' first.', reasoning_details: [{ ...text, text: ' first.', signature: null }] },
      { reasoning_details: [{ ...text, signature: 'S1' }] },
      { reasoning_details: [{ ...summary, summary: 'In ' }, 'odd', { ...text, odd: [{}] }] },
      { reasoning_details: [{ ...summary, summary: 'short.' }, encrypted] },
      { ...callOf('c1'), reasoning_details: [{ ...encrypted, data: 'MORE' }] },
    ]),
  )
  const brain = open()
  const second = await turnAfter(TURN, brain)
  const third = await turnAfter(second, brain)
  await thinkThrough(brain, third)
  const details = [
    { ...text, text: 'The file first.', signature: 'S1' },
    { ...summary, summary: 'In short.' },
    encrypted,
    { ...encrypted, data: 'MORE' },
  ]
  const [before = [], after = []] = server.requests.slice(1).map(assistantsIn)
  expect(before).toMatchObject([{ reasoning_details: details, tool_calls: [{ id: 'c1' }] }])
  expect(after).toEqual([before[0], before[0]])
  // To another model they mean nothing.
  await thinkThrough(openSubject(subjectOf('anthropic'), server), second)
  expect(JSON.stringify(server.requests.at(-1)?.body)).not.toContain('SIGNED')
})

test('details that come word by word are no longer than what they say', async () => {
  const format = 'x'.repeat(1_000)
  const piece = { type: 'reasoning.text', format, index: 0, text: 'Hm. ' }
  const pieces = Array.from({ length: 1_500 }, () => ({ reasoning_details: [piece] }))
  server.answer(replying([...pieces, callOf('c1')]))
  const [finished] = only(await thinkThrough(open()), 'finished')
  expect(finished?.opaque).toMatchObject({ details: [{ ...piece, text: 'Hm. '.repeat(1_500) }] })
})

test('details that are too long, or that nothing came of, are not kept', async () => {
  const data = 'x'.repeat(600_000)
  const long = { reasoning_details: [{ type: 'reasoning.encrypted', data }] }
  server.answer(replying([long, long, callOf('c1')]))
  const [calling] = only(await thinkThrough(open()), 'finished')
  expect(calling).not.toHaveProperty('opaque')
  server.answer(replying([long], 'length'))
  const [cut] = only(await thinkThrough(open()), 'finished')
  expect(cut).toMatchObject({ reason: 'length' })
  expect(cut).not.toHaveProperty('opaque')
})
