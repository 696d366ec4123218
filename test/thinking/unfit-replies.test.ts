import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Brain, ToolCall } from '../../src/effects/brains/brain.ts'
import { API_SUBJECTS, openSubject } from '../brains/api-subjects.ts'
import { findStored } from '../disk/find-stored.ts'
import { type Answer, calls } from '../providers/answer.ts'
import { startProviderServer } from '../providers/server.ts'
import { DONE, open, PLAN, resultsIn, watched } from './stage.ts'
import { RUN, scripted } from './world.ts'

const SECRET = 'correct-horse-battery-staple'
const BASE64 = Buffer.from(SECRET).toString('base64')
const RUNS_SOMETHING = { command: 'touch ran' }

/** Plans, makes those calls in its first turn, and is done in the next. */
function calling(calls: readonly ToolCall[], model = 'm'): Brain {
  const script = scripted(PLAN, DONE)
  return {
    name: 'calling',
    async *think(turn, signal) {
      if (turn.state === 'PLANNING' || turn.number > 1) {
        yield* script.think(turn, signal)
        return
      }
      yield { type: 'text', text: `It is ${SECRET}.` }
      for (const call of calls) yield { type: 'tool_call', call }
      yield { type: 'finished', reason: 'tool_calls', model }
    },
  }
}

/** What came of it: what the model was told, and what is left of it on the disk. */
async function play(calls: readonly ToolCall[], model?: string) {
  const brain = watched(calling(calls, model))
  const { start, reach, git } = await open({ brain, secrets: [SECRET], isolation: 'none' })
  const { data } = await reach(await start('s1'), 'TESTING')
  const { folder } = (await git.workspaces.find({ run: RUN, story: 's1' })) ?? { folder: '' }
  const isOnDisk = (text: string) => findStored(git.state, text).length > 0
  return {
    told: JSON.stringify(brain.turns.at(-1)?.messages),
    results: resultsIn(brain.turns.at(-1)),
    turns: data.turns,
    isLeaked: [SECRET, BASE64].some(
      (form) => isOnDisk(form) || JSON.stringify([brain.turns, data]).includes(form),
    ),
    hasRun: existsSync(join(folder, 'ran')),
    isOnDisk,
  }
}

describe.each([
  ['as it is', SECRET],
  ['in base64', BASE64],
])('a secret %s', (_, form) => {
  test.each([
    ['the id', { id: `id-${form}`, name: 'shell', input: RUNS_SOMETHING }],
    ['the name', { id: 'b', name: `shell_${form}`, input: {} }],
  ])('in %s of a call makes the reply unusable', async (_place, call) => {
    const innocent = { id: 'a', name: 'shell', input: RUNS_SOMETHING }
    const played = await play([innocent, call])
    expect(played.told).toContain('has a secret in its id or in its name')
    expect(played).toMatchObject({ results: [], turns: 2, isLeaked: false, hasRun: false })
  })

  test('in an input is refused, and the other calls are carried out', async () => {
    const bad = { id: 'a', name: 'read_file', input: { [form]: [form] } }
    const good = { id: 'b', name: 'shell', input: RUNS_SOMETHING }
    const played = await play([bad, good])
    expect(played.results[0]).toContain('read_file was not run')
    expect(played).toMatchObject({ isLeaked: false, hasRun: true })
  })

  test('in the name of a model is not kept', async () => {
    const call = { id: 'a', name: 'shell', input: RUNS_SOMETHING }
    expect(await play([call], `model-${form}`)).toMatchObject({ isLeaked: false, hasRun: true })
  })
})

describe('a reply', () => {
  const looks = (count: number): ToolCall[] =>
    Array.from({ length: count }, (_, i) => ({ id: `c${i}`, name: 'todo_list', input: {} }))

  test('with as many calls as are taken has them all answered', async () => {
    expect((await play(looks(64))).results).toHaveLength(64)
  })

  test('with more calls is unusable, and the model is told', async () => {
    const last = { id: 'last', name: 'shell', input: RUNS_SOMETHING }
    const played = await play([...looks(64), last])
    expect(played.told).toContain('65 calls')
    expect(played).toMatchObject({ results: [], turns: 2, hasRun: false })
  })

  test('with two calls of one id is unusable, whoever thinks', async () => {
    const last = { id: 'c0', name: 'shell', input: RUNS_SOMETHING }
    const played = await play([...looks(2), last])
    expect(played.told).toContain('two calls have the same id')
    expect(played).toMatchObject({ results: [], turns: 2, hasRun: false })
  })

  test.each([200, 201, 70_000])(
    'of a model with a name of %i characters is kept',
    async (chars) => {
      const call = { id: 'a', name: 'shell', input: RUNS_SOMETHING }
      const { isOnDisk, ...played } = await play([call], 'm'.repeat(chars))
      expect(played).toMatchObject({ turns: 2, hasRun: true })
      expect(isOnDisk(`"model":"${'m'.repeat(200)}"`)).toBe(true)
    },
  )

  /** As many calls as are taken, with ids that are as long as rows can hold. */
  const withIds = (filler: string): ToolCall[] =>
    looks(64).map((call) => ({ ...call, id: call.id.padEnd(200, filler) }))

  test.each(['i', '"'])('with the longest ids, of %s, has all calls answered', async (filler) => {
    expect((await play(withIds(filler))).results).toHaveLength(64)
  })

  test.each([
    ['too long for a row', 'i'.repeat(201), 'the ids of the calls are too long'],
    ['of control characters', '\u0001'.repeat(200), 'an id with unusual characters'],
    ['of another script', '漢'.repeat(200), 'an id with unusual characters'],
  ])('with ids %s is unusable', async (_, id, problem) => {
    const last = { id, name: 'shell', input: RUNS_SOMETHING }
    const played = await play([...withIds('i').slice(1), last])
    expect(played.told).toContain(problem)
    expect(played).toMatchObject({ results: [], turns: 2, hasRun: false })
  })
})

/** What a provider answers that is sent back the name of a call as the model wrote it. */
const REFUSED_NAME = {
  type: 'error',
  error: {
    type: 'invalid_request_error',
    message: "tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  },
}

test.each(API_SUBJECTS)('no name that $provider refuses is sent back to it', async (api) => {
  const server = await startProviderServer()
  const names = ['multi_tool_use.parallel', 'shell ', '1st', 'x'.repeat(65), 'read_file<|end|>']
  const unfit = names.map((name) => ({ type: 'call', name, input: RUNS_SOMETHING }) as const)
  const plan = { plan: 'Do it.', confidence: 'high' }
  let replies = 0
  try {
    server.answer((request) => {
      const body = JSON.stringify(request.body)
      if (!body.includes('"run_tests"')) {
        return { reply: { parts: [{ type: 'call', name: 'submit_plan', input: plan }] } }
      }
      if (names.some((name) => body.includes(`"name":${JSON.stringify(name)}`))) {
        const headers = { 'content-type': 'application/json' }
        return { raw: [JSON.stringify(REFUSED_NAME)], status: 400, headers }
      }
      replies += 1
      const done = { type: 'call', name: 'done', input: { summary: 'Done.' } } as const
      return { reply: { parts: [unfit[replies - 1] ?? done] } }
    })
    const { start, reach } = await open({ brain: openSubject(api, server), isolation: 'none' })
    const { data } = await reach(await start('s1'), 'TESTING', 'ERROR', 'BUDGET_REVIEW')
    expect(data).toMatchObject({ outcome: { kind: 'ended' }, turns: names.length + 1 })
    const told = JSON.stringify(server.requests.at(-1)?.body)
    expect(told).toContain('no tool can have such a name')
  } finally {
    await server.close()
  }
})

test.each(API_SUBJECTS)('a call at $provider that says something twice is told so', async (api) => {
  const server = await startProviderServer()
  try {
    const twice = '{"command": "echo harmless", "command": "touch ran"}'
    const plan = calls('submit_plan', { plan: 'Do it.', confidence: 'high' })
    const bad: Answer = { reply: { parts: [{ type: 'bad_call', name: 'shell', text: twice }] } }
    const answers = [plan, bad, calls('done', { summary: 'Done.' })]
    server.answer(({ number }) => answers[number - 1] ?? plan)
    const brain = watched(openSubject(api, server))
    const { start, reach, git } = await open({ brain, isolation: 'none' })
    await reach(await start('s1'), 'TESTING')
    expect(resultsIn(brain.turns.at(-1))).toEqual([
      expect.stringContaining('every key stands once'),
    ])
    const { folder } = (await git.workspaces.find({ run: RUN, story: 's1' })) ?? { folder: '' }
    expect(existsSync(join(folder, 'ran'))).toBe(false)
  } finally {
    await server.close()
  }
})

test.each(API_SUBJECTS)('an absurd cost at $provider stops nobody', async (api) => {
  const server = await startProviderServer()
  try {
    const parts = [{ type: 'text', text: 'Hm.' }] as const
    server.answer({ reply: { parts, outputTokens: 2 ** 64 } })
    const limits = { run: { iterationsMax: 2 } }
    const brain = openSubject(api, server)
    const { start, reach } = await open({ brain, limits, isolation: 'none' })
    const { data } = await reach(await start('s1', {}, 'none'), 'BUDGET_REVIEW')
    expect(data.outcome).toMatchObject({ kind: 'spent' })
    expect(server.requests).toHaveLength(2)
  } finally {
    await server.close()
  }
})
