import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Brain, BrainEvent } from '../../src/effects/brains/brain.ts'
import { TOOL_NAMES } from '../../src/effects/tools/toolbox.ts'
import { openThinkingWorld, RUN } from './world.ts'

/** The long setting is 5000. */
const REPLIES = Number(process.env.SLIPWAY_BAD_REPLIES ?? 300)
const TURNS = 100

/** Calls that would leave a file behind if any of them were carried out, and none is right. */
const RUNS_SOMETHING = 'touch ran'
const badInput = fc.oneof(
  fc.anything(),
  fc.record({ command: fc.constant(RUNS_SOMETHING), extra: fc.anything() }),
  fc.record({ command: fc.constant([RUNS_SOMETHING]) }),
  fc.record({ command: fc.constant(RUNS_SOMETHING), timeout_ms: fc.constant('1000') }),
  fc.record({ path: fc.constant('ran'), text: fc.anything().filter((x) => typeof x !== 'string') }),
  fc.record({ path: fc.constantFrom('../ran', '/ran', '.git/ran'), text: fc.string() }),
  fc.constant(JSON.stringify({ command: RUNS_SOMETHING })),
  fc.constant(`{"command": "${RUNS_SOMETHING}"`),
  fc.constantFrom({ summary: '' }, { summary: 1 }, { reason: '' }, { question: [] }, {}),
)
const knownName = fc.constantFrom(
  ...TOOL_NAMES.filter((name) => !name.startsWith('run_') && name !== 'todo_list'),
)
const toolName = fc.oneof(
  { weight: 10, arbitrary: knownName },
  { weight: 5, arbitrary: fc.constantFrom('SHELL', '__proto__', 'constructor', 'mcp__x__y') },
  // One of these spoils its whole reply.
  { weight: 1, arbitrary: fc.oneof(fc.string(), fc.constant('shell ')) },
)

const reply: fc.Arbitrary<readonly BrainEvent[]> = fc
  .array(fc.record({ name: toolName, input: badInput }), { maxLength: 4 })
  .chain((calls) =>
    fc.record({
      text: fc.string({ maxLength: 200 }),
      finish: fc.constantFrom('stop' as const, 'tool_calls' as const, 'length' as const),
      calls: fc.constant(calls),
    }),
  )
  .map(({ text, finish, calls }) => [
    { type: 'text', text },
    ...calls.map((call, i) => ({ type: 'tool_call' as const, call: { id: `c${i}`, ...call } })),
    { type: 'finished', reason: finish, model: 'bad' },
  ])

test(`${REPLIES} bad replies: no crash, and nothing is carried out`, async () => {
  const replies = fc.sample(reply, { numRuns: REPLIES, seed: 7 })
  let next = 0
  const brain: Brain = {
    name: 'bad',
    async *think({ state, messages }) {
      if (state === 'PLANNING') {
        const input = { plan: 'Do it.', confidence: 'high' }
        yield { type: 'tool_call', call: { id: 'p', name: 'submit_plan', input } }
        yield { type: 'finished', reason: 'tool_calls', model: 'bad' }
        return
      }
      const events = replies[next] ?? [{ type: 'finished', reason: 'stop', model: 'bad' } as const]
      next += 1
      const turn = messages.length
      for (const event of events) {
        const isCall = event.type === 'tool_call'
        yield isCall ? { ...event, call: { ...event.call, id: `${turn}-${event.call.id}` } } : event
      }
    },
  }
  const world = await openThinkingWorld({ brain })
  try {
    for (let story = 0; next < REPLIES; story += 1) {
      const agent = await world.start(`s${story}`, { turnsMax: TURNS })
      const { data } = await world.reach(agent, 'BUDGET_REVIEW', 'TESTING', 'ERROR', 'QUESTION')
      expect(data.outcome).toMatchObject({ kind: 'spent' })
      const { folder } = (await world.git.workspaces.find({ run: RUN, story: `s${story}` })) ?? {
        folder: '',
      }
      for (const place of [folder, join(folder, '..'), join(folder, '.git'), '/']) {
        expect(existsSync(join(place, 'ran'))).toBe(false)
      }
    }
    expect(world.runtime.health()).toEqual({ state: 'well' })
  } finally {
    await world.close()
  }
}, 1_800_000)
