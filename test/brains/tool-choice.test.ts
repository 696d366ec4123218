import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Message, Turn } from '../../src/effects/brains/brain.ts'
import { type Answer, calls, says } from '../providers/answer.ts'
import { type ProviderServer, type SeenRequest, startProviderServer } from '../providers/server.ts'
import { sse } from '../providers/wire.ts'
import { API_SUBJECTS, type ApiSubject, openSubject } from './api-subjects.ts'
import { breachIn, only, TURN, thinkThrough } from './turn.ts'

let server: ProviderServer

beforeEach(async () => {
  server = await startProviderServer()
})

afterEach(() => server.close())

const FORCED: Turn = { ...TURN, forcedTool: 'submit' }
const TOOLLESS: Turn = { ...TURN, isToolless: true }

const refusal = (error: unknown, status = 400): Answer => ({
  raw: [JSON.stringify({ error })],
  status,
})
const LM_STUDIO = refusal(
  "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
)
const DEEPSEEK = refusal({ message: 'Thinking mode does not support this tool_choice' })
const ROUTER = refusal(
  { message: "No endpoints found that support the provided 'tool_choice' value.", code: 404 },
  404,
)

function open(provider: ApiSubject['provider'] = 'openai-compatible') {
  const api = API_SUBJECTS.find((one) => one.provider === provider)
  if (api === undefined) throw new Error(provider)
  return openSubject(api, server)
}

/** A server that takes no choice but those. */
function taking(choices: readonly unknown[], refused: Answer): void {
  server.answer(({ body }) => (choices.includes(body.tool_choice) ? calls('submit', {}) : refused))
}

/** What a request chose, and from what. */
function choiceIn({ body }: SeenRequest): readonly [unknown, readonly unknown[]] {
  const tools = (body.tools ?? []) as readonly { readonly function: { readonly name: string } }[]
  return [body.tool_choice, tools.map((tool) => tool.function.name)]
}

const ALL = ['read_file', 'submit']
const NAMED = [{ type: 'function', function: { name: 'submit' } }, ALL]

describe('a tool that has to be called, at a server that', () => {
  test.each<[string, readonly unknown[], Answer, readonly unknown[]]>([
    [
      'takes no named choice',
      ['none', 'auto', 'required'],
      LM_STUDIO,
      [NAMED, ['required', ['submit']]],
    ],
    [
      'lets its model choose while it thinks',
      ['none', 'auto'],
      DEEPSEEK,
      [NAMED, ['required', ['submit']], ['auto', ['submit']]],
    ],
    [
      'finds nobody behind it who takes a choice',
      ['auto', 'required'],
      ROUTER,
      [NAMED, ['required', ['submit']]],
    ],
  ])('%s', async (_, choices, refused, asked) => {
    taking(choices, refused)
    const brain = open()
    const events = await thinkThrough(brain, FORCED)
    expect(breachIn(events)).toBeUndefined()
    expect(only(events, 'tool_call')).toMatchObject([{ call: { name: 'submit' } }])
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
    // What was refused cost nothing.
    expect(only(events, 'usage')).toHaveLength(1)
    expect(server.requests.map(choiceIn)).toEqual(asked)
    // From then on it is asked as it takes it, and other turns as ever.
    await thinkThrough(brain, { ...FORCED, number: 2 })
    await thinkThrough(brain)
    expect(server.requests.slice(asked.length).map(choiceIn)).toEqual([asked.at(-1), ['auto', ALL]])
    // Another brain asks another server.
    await thinkThrough(open(), FORCED)
    expect(choiceIn(server.requests[asked.length + 2] as SeenRequest)).toEqual(NAMED)
  })

  test('takes none of it: that is told, and nothing is learnt from it', async () => {
    taking([], DEEPSEEK)
    const brain = open()
    for (let i = 1; i <= 2; i += 1) {
      const events = await thinkThrough(brain, FORCED)
      expect(events).toMatchObject([{ type: 'failed', failure: { kind: 'rejected' } }])
      expect(server.requests).toHaveLength(3 * i)
    }
  })

  test.each<[string, Answer, string]>([
    ['refuses something else', refusal({ message: 'messages: too many' }), 'rejected'],
    [
      'says that its model did not obey',
      refusal({
        message: 'Tool choice is required, but model did not call a tool',
        code: 'tool_use_failed',
      }),
      'invalid_output',
    ],
    [
      'says it in the middle of a reply, which costs something',
      {
        raw: [
          sse({ id: 'x', choices: [{ index: 0, delta: { content: 'A' } }] }),
          sse({ error: { code: 400, message: 'Invalid tool_choice.' } }),
        ],
        headers: { 'content-type': 'text/event-stream' },
      },
      'rejected',
    ],
  ])('%s: it is asked once', async (_, answer, kind) => {
    server.answer(answer)
    const events = await thinkThrough(open(), FORCED)
    expect(breachIn(events)).toBeUndefined()
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind } })
    expect(server.requests).toHaveLength(1)
  })

  test('takes neither the choice nor what the model reasoned', async () => {
    const provider = 'anthropic'
    const signed = { anthropic: { signature: 'old' } }
    const parts = [
      { type: 'reasoning', text: 'Hm.', meta: signed },
      { type: 'text', chars: 2 },
    ]
    const opaque = { from: `${provider}/claude-test`, parts }
    const messages: Message[] = [
      ...TURN.messages,
      { role: 'assistant', text: 'ok', toolCalls: [], opaque },
      { role: 'user', text: 'Go on.' },
    ]
    server.answer(({ body }) => {
      const text = JSON.stringify(body)
      if (text.includes('"type":"tool"')) {
        return refusal({ message: 'Thinking may not be enabled when tool_choice forces tool use.' })
      }
      if (text.includes('"signature"')) return refusal({ message: 'Invalid `signature`' })
      return calls('submit', {})
    })
    const events = await thinkThrough(open(provider), { ...FORCED, messages })
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
    expect(server.requests).toHaveLength(3)
  })
})

test('where "none" is refused, no tool is on offer', async () => {
  const refused = refusal("Invalid tool_choice: 'none'")
  server.answer(({ body }) => (body.tool_choice === 'none' ? refused : says('In short.')))
  const brain = open()
  for (const asked of [2, 3]) {
    const events = await thinkThrough(brain, TOOLLESS)
    expect(breachIn(events)).toBeUndefined()
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'stop' })
    expect(server.requests).toHaveLength(asked)
  }
  expect(server.requests.map(choiceIn)).toEqual([
    ['none', ALL],
    [undefined, []],
    [undefined, []],
  ])
})
