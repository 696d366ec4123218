import { describe, expect, test } from 'vitest'
import type { Brain, BrainEvent, FailureKind, Turn } from '../../src/effects/brains/brain.ts'
import type { Account } from '../../src/ledger/ledger.ts'
import { open, PLAN, watched } from './stage.ts'
import { LEDGER, MIND, openThinkingOn, scripted, type ThinkingWorld } from './world.ts'

const SAID: BrainEvent = { type: 'text', text: 'Hm.' }
const FINISHED: BrainEvent = { type: 'finished', reason: 'stop', model: 'm' }
const used = (inputTokens: number): BrainEvent => ({
  type: 'usage',
  usage: { inputTokens, cachedTokens: 0, cacheWriteTokens: null, outputTokens: 10 },
})
const failed = (kind: FailureKind, retryAfterMs?: number): BrainEvent => ({
  type: 'failed',
  failure: { kind, message: 'no', ...(retryAfterMs !== undefined && { retryAfterMs }) },
})

/** A brain that says in each turn what it is told to, by the number of the call. */
function saying(events: (call: number, turn: Turn) => readonly BrainEvent[]) {
  const turns: Turn[] = []
  const brain: Brain = {
    name: 'm',
    async *think(turn) {
      turns.push(turn)
      yield* events(turns.length, turn)
    },
  }
  return { ...brain, turns }
}

async function booksOf({ dataOf }: ThinkingWorld): Promise<Account> {
  return (await dataOf(LEDGER)).run as unknown as Account
}

describe('a reply that fails after it has begun', () => {
  test.each(['quota', 'auth'] as const)('by %s waits until that is mended', async (kind) => {
    let isUp = false
    const brain = saying(() => [SAID, used(100), isUp ? FINISHED : failed(kind)])
    const world = await open({ brain, isolation: 'none', serviceUp: () => isUp })
    const agent = await world.start('s1', { turnsMax: 2 }, 'none')
    await world.reach(agent, 'SUSPEND')
    expect(brain.turns).toHaveLength(1)
    isUp = true
    const { data } = await world.reach(agent, 'BUDGET_REVIEW')
    expect(data.outcome).toEqual({ kind: 'spent', what: 'turns' })
    expect((await booksOf(world)).spent.inputTokens).toBe(brain.turns.length * 100)
  })

  test('by a limit that resets waits for that time, also where a probe is answered', async () => {
    const calledMs: number[] = []
    const brain = saying((call) => {
      calledMs.push(performance.now())
      return call === 1 ? [failed('quota', 2_000)] : [SAID, used(100), FINISHED]
    })
    const world = await open({ brain, isolation: 'none' })
    await world.reach(await world.start('s1', { turnsMax: 1 }, 'none'), 'BUDGET_REVIEW')
    const [first = 0, second = 0] = calledMs
    expect(second - first).toBeGreaterThanOrEqual(1_999)
  })

  test('lets all wait for the same time, and none for that of another', async () => {
    const calls: number[] = []
    const startedMs = Date.now()
    const brain = saying((call) => {
      calls.push(Date.now() - startedMs)
      return [SAID, used(100), call <= 4 ? failed('rate_limited', 2_000) : FINISHED]
    })
    const world = await open({ brain, isolation: 'none' })
    const agents = await Promise.all(
      Array.from({ length: 4 }, (_, i) => world.start(`s${i}`, { turnsMax: 1 }, 'none')),
    )
    for (const agent of agents) await world.reach(agent, 'BUDGET_REVIEW')
    expect(calls).toHaveLength(8)
    expect(Math.min(...calls.slice(4))).toBeGreaterThanOrEqual(2_000)
    // Two seconds and what spreads them; one after the other it would be eight.
    expect(Math.max(...calls.slice(4))).toBeLessThan(7_000)
  }, 60_000)

  test('waits longer from time to time where no time is named', async () => {
    const calledMs: number[] = []
    const brain = saying((call) => {
      calledMs.push(performance.now())
      return [SAID, used(100), call <= 2 ? failed('network') : FINISHED]
    })
    const world = await open({ brain, isolation: 'none' })
    await world.reach(await world.start('s1', { turnsMax: 1 }, 'none'), 'BUDGET_REVIEW')
    const [first = 0, second = 0, third = 0] = calledMs
    // Half a second and twice that, less up to the half of it.
    expect(second - first).toBeGreaterThanOrEqual(249)
    expect(third - second).toBeGreaterThanOrEqual(499)
  })

  test('counts every try, also those that cost nothing', async () => {
    const brain = saying((call) => {
      if (call <= 2) return [failed('network', 1)]
      return [SAID, used(100), call === 3 ? failed('network', 1) : FINISHED]
    })
    const world = await open({ brain, isolation: 'none' })
    await world.reach(await world.start('s1', { turnsMax: 1 }, 'none'), 'BUDGET_REVIEW')
    expect(brain.turns.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4])
  }, 60_000)

  test('is paid for also where an outage follows its stop', async () => {
    let isUp = true
    let calls = 0
    const brain: Brain = {
      name: 'm',
      async *think(_, signal) {
        if (!isUp) return yield failed('auth')
        calls += 1
        yield SAID
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        yield failed('aborted')
      },
    }
    const settings = { brain, isolation: 'none', serviceUp: () => isUp } as const
    const first = await open(settings)
    const agent = await first.start('s1', { turnsMax: 2 }, 'none')
    await expect.poll(() => calls).toBe(1)
    const { reserved } = await booksOf(first)
    isUp = false
    await first.stop()
    const second = await openThinkingOn(first.git, settings)
    await second.reach(agent, 'SUSPEND')
    expect((await booksOf(second)).spent.microdollars).toBe(reserved.microdollars)
    await second.stop()
  })

  test('waits as long as the provider asks for', async () => {
    const brain = saying(() => [SAID, used(100), failed('rate_limited', 10_800_000)])
    const world = await open({ brain, isolation: 'none', serviceUp: () => false })
    await world.reach(await world.start('s1', {}, 'none'), 'SUSPEND')
    expect(brain.turns).toHaveLength(1)
  })

  test('is tried again as the next try, and ends the state in the end', async () => {
    const brain = saying(() => [SAID, used(100), failed('network', 1)])
    const world = await open({ brain, isolation: 'none' })
    const { data } = await world.reach(await world.start('s1', {}, 'none'), 'QUESTION', 'ERROR')
    expect(data.outcome).toMatchObject({ kind: 'failed', code: 'network' })
    expect(brain.turns.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    const { spent, reserved } = await booksOf(world)
    expect([spent.inputTokens, reserved.inputTokens]).toEqual([1_100, 0])
  }, 120_000)
})

describe('what was never asked for is not in the books', () => {
  test('where the provider is out already', async () => {
    let isUp = false
    const brain = saying(() => (isUp ? [SAID, used(100), FINISHED] : [failed('auth')]))
    const world = await open({ brain, isolation: 'none', serviceUp: () => isUp })
    const agents = []
    for (let i = 0; i < 8; i += 1) {
      const agent = await world.start(`s${i}`, { turnsMax: 2 }, 'none')
      await world.reach(agent, 'SUSPEND')
      agents.push(agent)
    }
    const refused = brain.turns.length
    isUp = true
    for (const agent of agents) await world.reach(agent, 'BUDGET_REVIEW')
    const { spent } = await booksOf(world)
    expect(refused).toBeLessThan(8)
    expect(spent.inputTokens).toBe((brain.turns.length - refused) * 100)
  })

  test.each([
    ['the wait after a setback', () => [SAID, used(100), failed('rate_limited', 20_000)], 1],
    ['a short wait that the provider asked for', () => [failed('rate_limited', 20_000)], 2],
  ] as const)('after a restart in %s', async (_, events, agents) => {
    const brain = saying(() => [...events()])
    const first = await open({ brain, isolation: 'none' })
    for (let i = 0; i < agents; i += 1) await first.start(`s${i}`, { turnsMax: 1 }, 'none')
    await expect.poll(() => brain.turns.length).toBe(1)
    const isHeld = async () => {
      const effects = await first.effects()
      return effects.length === agents && effects.every(({ phase }) => phase === 'held')
    }
    await expect.poll(isHeld).toBe(true)
    const { spent } = await booksOf(first)
    await first.stop()
    for (let restart = 0; restart < 2; restart += 1) {
      const next = await openThinkingOn(first.git, { brain, isolation: 'none' })
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect((await booksOf(next)).spent).toEqual(spent)
      await next.stop()
    }
    expect(brain.turns).toHaveLength(1)
  })

  test('after a restart in the middle of an outage', async () => {
    const first = await open({
      brain: saying(() => [failed('auth')]),
      isolation: 'none',
      serviceUp: () => false,
    })
    const agent = await first.start('s1', { turnsMax: 2 }, 'none')
    await first.reach(agent, 'SUSPEND')
    await first.stop()
    const brain = saying(() => [SAID, used(100), FINISHED])
    const second = await openThinkingOn(first.git, { brain, isolation: 'none' })
    await second.reach(agent, 'BUDGET_REVIEW')
    expect((await booksOf(second)).spent.inputTokens).toBe(brain.turns.length * 100)
    await second.stop()
  })
})

test('what an agent used in a session is not taken for the size of its conversation', async () => {
  const brain = saying(() => [SAID, used(1_500_000), FINISHED])
  const mind = { ...MIND, sessionTokensMax: 4_000_000, price: null }
  const limits = { allowUnpriced: true, story: { tokensMax: 3_500_000 } }
  const world = await open({ brain, isolation: 'none', isAgent: true, limits })
  const agent = await world.start('s1', { turnsMax: 2, mind }, 'none')
  const { data } = await world.reach(agent, 'BUDGET_REVIEW')
  expect(data.outcome).toEqual({ kind: 'spent', what: 'turns' })
  expect(brain.turns.map(({ isToolless, forcedTool }) => [isToolless, forcedTool])).toEqual([
    [undefined, undefined],
    [undefined, 'submit_plan'],
  ])
})

test('a summary that breaks off is asked for again, and costs no other', async () => {
  const long = { when: { turn: 1 }, do: [{ text: 'x'.repeat(200_000) }] }
  let cuts = 0
  const script = scripted(PLAN, long, { do: [{ call: 'done', input: { summary: 'Done.' } }] })
  const brain = watched({
    name: 'm',
    async *think(turn, signal) {
      if (!turn.isToolless) return yield* script.think(turn, signal)
      cuts += 1
      yield SAID
      yield* cuts > 3 ? [used(100), FINISHED] : [used(100), failed('network', 1)]
    },
  })
  const mind = { ...MIND, contextTokens: 60_000 }
  const { start, reach } = await open({ brain, isolation: 'none' })
  const { data } = await reach(await start('s1', { mind }), 'TESTING', 'BUDGET_REVIEW', 'ERROR')
  expect(data.outcome).toMatchObject({ kind: 'ended', tool: 'done' })
  expect(cuts).toBe(4)
}, 60_000)
