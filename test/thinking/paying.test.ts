import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Brain, type BrainEvent, UNTOLD_USAGE } from '../../src/effects/brains/brain.ts'
import { defineTool, said } from '../../src/effects/tools/tool.ts'
import type { Account } from '../../src/ledger/ledger.ts'
import { open } from './stage.ts'
import { LEDGER, MIND, openThinkingOn, RUN, type ThinkingWorld } from './world.ts'

const [INPUT_TOKENS, OUTPUT_TOKENS] = [10_000, 4_000]
/** At the prices of the world. */
const CALL_MICRODOLLARS = INPUT_TOKENS * 3 + OUTPUT_TOKENS * 15

const SAID: BrainEvent = { type: 'text', text: 'Hm.' }
const FINISHED: BrainEvent = { type: 'finished', reason: 'stop', model: 'm' }
const USED: BrainEvent = {
  type: 'usage',
  usage: {
    inputTokens: INPUT_TOKENS,
    cachedTokens: 0,
    cacheWriteTokens: null,
    outputTokens: OUTPUT_TOKENS,
  },
}
const broken = (kind: 'network' | 'stalled'): BrainEvent => ({
  type: 'failed',
  failure: { kind, message: 'cut', retryAfterMs: 1 },
})

/** A brain that says something of its own in each turn, and counts them. */
function saying(events: (call: number) => readonly BrainEvent[]): Brain & { calls: number } {
  return {
    name: 'm',
    calls: 0,
    async *think() {
      this.calls += 1
      yield* events(this.calls)
    },
  }
}

async function booksOf({ dataOf }: ThinkingWorld): Promise<Account> {
  return (await dataOf(LEDGER)).run as unknown as Account
}

test('every try that broke off after it had cost something is paid for, and none goes over the limit', async () => {
  const brain = saying((call) => [SAID, USED, call < 40 ? broken('network') : FINISHED])
  const microdollarsMax = 8 * CALL_MICRODOLLARS
  const limits = { run: { microdollarsMax } }
  const world = await open({ brain, limits, isolation: 'none' })
  const { data } = await world.reach(await world.start('s1', {}, 'none'), 'BUDGET_REVIEW')
  expect(data.outcome).toMatchObject({ kind: 'spent', what: { what: 'money' } })
  expect(brain.calls).toBeGreaterThan(4)
  expect(brain.calls * CALL_MICRODOLLARS).toBeLessThanOrEqual(microdollarsMax)
  const { spent, reserved } = await booksOf(world)
  expect(spent.microdollars).toBe(brain.calls * CALL_MICRODOLLARS)
  expect(reserved.microdollars).toBe(0)
})

describe('where nobody says what a turn used, all that was set aside counts', () => {
  const limits = { run: { iterationsMax: 1 } }
  const TURNS: Readonly<Record<string, readonly BrainEvent[]>> = {
    'after a whole reply': [SAID, FINISHED],
    'after half a reply': [SAID, broken('network')],
    'after the half of a call, which nobody sees': [
      { type: 'usage', usage: UNTOLD_USAGE },
      broken('network'),
    ],
    'after thoughts alone': [{ type: 'reasoning', text: 'z'.repeat(3_000) }, broken('stalled')],
  }

  test.each(Object.entries(TURNS))('%s', async (_, events) => {
    const world = await open({ brain: saying(() => events), limits, isolation: 'none' })
    await world.reach(await world.start('s1', {}, 'none'), 'BUDGET_REVIEW')
    const { spent } = await booksOf(world)
    expect(spent.outputTokens).toBe(MIND.outputTokensMax)
    expect(spent.microdollars).toBeGreaterThan(12_000 * 3 + MIND.outputTokensMax * 15)
  })
})

test('a turn that an earlier process had begun is paid for, and asked for again', async () => {
  let begun = () => {}
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  const hanging: Brain = {
    name: 'm',
    async *think(_, signal) {
      yield SAID
      begun()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      yield { type: 'failed', failure: { kind: 'aborted', message: 'stopped' } }
    },
  }
  const limits = { run: { iterationsMax: 2 } }
  const first = await open({ brain: hanging, limits, isolation: 'none' })
  const agent = await first.start('s1', {}, 'none')
  await isBegun
  const { reserved } = await booksOf(first)
  await first.stop()
  const brain = saying(() => [SAID, USED, FINISHED])
  const second = await openThinkingOn(first.git, { brain, limits, isolation: 'none' })
  await second.reach(agent, 'BUDGET_REVIEW')
  const { spent } = await booksOf(second)
  expect(brain.calls).toBe(1)
  expect(spent.microdollars).toBe(reserved.microdollars + CALL_MICRODOLLARS)
  await second.stop()
})

test('a turn that was stopped before its first word is paid for too, when its run goes on', async () => {
  const brain: Brain & { calls: number } = {
    name: 'm',
    calls: 0,
    async *think(_, signal) {
      this.calls += 1
      if (this.calls === 1) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        yield { type: 'failed', failure: { kind: 'aborted', message: 'stopped' } }
        return
      }
      yield* [SAID, USED, FINISHED]
    },
  }
  const world = await open({ brain, limits: { run: { iterationsMax: 2 } }, isolation: 'none' })
  const agent = await world.start('s1', {}, 'none')
  await expect.poll(() => brain.calls).toBe(1)
  const { reserved } = await booksOf(world)
  await world.runtime.stop(RUN)
  await world.runtime.resume(RUN)
  await world.reach(agent, 'BUDGET_REVIEW')
  const { spent } = await booksOf(world)
  expect([brain.calls, spent.iterations]).toEqual([2, 2])
  expect(spent.microdollars).toBe(reserved.microdollars + CALL_MICRODOLLARS)
})

test('a turn ends with the time of its run, and the next is refused', async () => {
  let endedMs = 0
  const brain: Brain = {
    name: 'm',
    async *think(_, signal) {
      yield SAID
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      endedMs = Date.now()
      yield { type: 'failed', failure: { kind: 'aborted', message: 'stopped' } }
    },
  }
  const limits = { run: { elapsedMsMax: 400 } }
  const world = await open({ brain, limits, isolation: 'none' })
  const startedMs = Date.now()
  const { data } = await world.reach(await world.start('s1', {}, 'none'), 'BUDGET_REVIEW')
  expect(data.outcome).toMatchObject({ kind: 'spent', what: { what: 'time', limit: 400 } })
  expect(endedMs - startedMs).toBeLessThan(5_000)
})

test('a first request that is larger than what was set aside is asked for with its size', async () => {
  const input = { plan: 'Do it.', confidence: 'high' }
  const brain = saying(() => [
    USED,
    { type: 'tool_call', call: { id: 'a', name: 'submit_plan', input } },
    { type: 'finished', reason: 'tool_calls', model: 'm' },
  ])
  const furtherTools = Array.from({ length: 80 }, (_, i) =>
    defineTool({
      name: `further_${i}`,
      description: 'x'.repeat(2_000),
      schema: z.strictObject({}),
      isReadOnly: true,
      run: async () => said(''),
    }),
  )
  const limits = { run: { tokensMax: 60_000 } }
  const world = await open({ brain, limits, isolation: 'none', furtherTools })
  const { data } = await world.reach(await world.start('s1'), 'BUDGET_REVIEW')
  expect(data.outcome).toMatchObject({ kind: 'spent', what: { what: 'tokens' } })
  // What it codes with has the further tools, and is not sent.
  expect(brain.calls).toBe(1)
  const { spent, reserved } = await booksOf(world)
  expect([spent.iterations, reserved.iterations]).toEqual([1, 0])
})
