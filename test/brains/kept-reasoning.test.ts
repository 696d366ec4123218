import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Message, Turn } from '../../src/effects/brains/brain.ts'
import type { Answer } from '../providers/answer.ts'
import { type ProviderServer, type SeenRequest, startProviderServer } from '../providers/server.ts'
import { listIn, sse } from '../providers/wire.ts'
import { API_SUBJECTS, openSubject } from './api-subjects.ts'
import { only, TURN, textOf, thinkThrough } from './turn.ts'

let server: ProviderServer

beforeEach(async () => {
  server = await startProviderServer()
})

afterEach(() => server.close())

function open() {
  const api = API_SUBJECTS.find(({ provider }) => provider === 'openai-compatible')
  if (api === undefined) throw new Error('there is no such subject')
  return openSubject(api, server)
}

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
