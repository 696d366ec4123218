import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Account } from '../../src/ledger/ledger.ts'
import { openSubject, subjectOf } from '../brains/api-subjects.ts'
import { type Answer, calls, says } from '../providers/answer.ts'
import { type ProviderServer, type SeenRequest, startProviderServer } from '../providers/server.ts'
import { open } from './stage.ts'
import { LEDGER, MIND } from './world.ts'

let server: ProviderServer

beforeEach(async () => {
  server = await startProviderServer()
})

afterEach(() => server.close())

const ENDS: Readonly<Record<string, object>> = {
  submit_plan: { plan: 'Do it.', confidence: 'high' },
  done: { summary: 'Done.' },
}

/** A model behind a server that only speaks like OpenAI. */
const compatible = () => openSubject(subjectOf('openai-compatible'), server)

function offeredIn({ body }: SeenRequest): readonly string[] {
  const tools = (body.tools ?? []) as readonly { readonly function: { readonly name: string } }[]
  return tools.map((tool) => tool.function.name)
}

const refusal = (error: string): Answer => ({ raw: [JSON.stringify({ error })], status: 400 })

test('the last turn ends a state also where the server takes no named tool, and a refusal is free', async () => {
  const refused: SeenRequest[] = []
  server.answer((request) => {
    if (typeof request.body.tool_choice === 'object') {
      refused.push(request)
      return refusal("Invalid tool_choice type: 'object'. Supported: none, auto, required")
    }
    const [only = '', ...others] = offeredIn(request)
    const input = others.length === 0 ? ENDS[only] : undefined
    // It never ends a state unless it has to.
    return input === undefined
      ? calls('shell', { command: `echo ${request.number}` })
      : calls(only, input)
  })
  const world = await open({ brain: compatible(), isolation: 'none' })
  const agent = await world.start('s1', { turnsMax: 3 })
  const { data } = await world.reach(agent, 'TESTING', 'BUDGET_REVIEW', 'QUESTION', 'ERROR')
  expect(data.outcome).toMatchObject({ kind: 'ended', tool: 'done' })
  // Of the two states that were ended by force, one has met the refusal.
  expect(refused).toHaveLength(1)
  expect(server.requests).toHaveLength(7)
  const { spent, reserved } = (await world.dataOf(LEDGER)).run as unknown as Account
  const answered = server.requests.filter((request) => !refused.includes(request))
  expect(spent.iterations).toBe(answered.length)
  expect(spent.inputTokens).toBe(answered.reduce((sum, one) => sum + one.inputTokens, 0))
  expect(reserved.inputTokens).toBe(0)
})

test('a conversation is summed up also where the server takes no "none"', async () => {
  let shells = 0
  server.answer((request) => {
    if (request.body.tool_choice === 'none') return refusal("Invalid tool_choice: 'none'")
    const offered = offeredIn(request)
    if (offered.length === 0) return says('I have counted.')
    const end = offered.find((name) => ENDS[name] !== undefined) ?? ''
    if (end === 'submit_plan' || shells === 8) return calls(end, ENDS[end])
    shells += 1
    return calls('shell', { command: `seq ${shells}0000 ${shells}1000` })
  })
  const world = await open({ brain: compatible(), isolation: 'none' })
  const mind = { ...MIND, contextTokens: 24_000 }
  const { data } = await world.reach(
    await world.start('s1', { mind }),
    'TESTING',
    'BUDGET_REVIEW',
    'QUESTION',
    'ERROR',
  )
  expect(data.outcome).toMatchObject({ kind: 'ended', tool: 'done' })
  const sums = server.requests.filter((request) => offeredIn(request).length === 0)
  expect(sums.length).toBeGreaterThan(0)
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain('I have counted.')
  const nones = server.requests.filter(({ body }) => body.tool_choice === 'none')
  expect(nones).toHaveLength(1)
})
