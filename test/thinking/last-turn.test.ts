import { describe, expect, test } from 'vitest'
import type { Brain, BrainEvent, Turn } from '../../src/effects/brains/brain.ts'
import type { Account } from '../../src/ledger/ledger.ts'
import type { Limits } from '../../src/ledger/limits.ts'
import { open, PLAN, resultsIn, shell } from './stage.ts'
import { LEDGER, MIND, scripted } from './world.ts'

/** What a turn takes, and never more than the bytes of its request suggest. */
const used = ({ system, tools, messages }: Turn): BrainEvent => {
  const inputTokens = Math.ceil(JSON.stringify([system, tools, messages]).length / 3)
  const usage = { inputTokens, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 200 }
  return { type: 'usage', usage }
}

/** Reads much in every turn of coding, and ends when it has to, unless it does not want to. */
function reading(calls: number, end = 'done'): Brain & { readonly turns: Turn[] } {
  const plan = scripted(PLAN)
  const turns: Turn[] = []
  return {
    name: 'm',
    turns,
    async *think(turn, signal) {
      if (turn.state === 'PLANNING') return yield* plan.think(turn, signal)
      turns.push(turn)
      const from = turn.number * 100_000
      const reads = Array.from({ length: calls }, (_, i) =>
        shell(`seq ${from + i} ${from + 2_200}`),
      )
      const ends = [{ call: end, input: { summary: 'As far as it goes.' } }]
      for (const [i, { call, input }] of (turn.forcedTool ? ends : reads).entries()) {
        yield { type: 'tool_call', call: { id: `${turn.number}_${i}`, name: call, input } }
      }
      yield used(turn)
      yield { type: 'finished', reason: 'tool_calls', model: 'm' }
    },
  }
}

async function code(brain: Brain, run: Limits, contextTokens = 200_000) {
  const world = await open({ brain, isolation: 'none', limits: { run } })
  const agent = await world.start('s1', { mind: { ...MIND, contextTokens } })
  const { state, data } = await world.reach(agent, 'TESTING', 'BUDGET_REVIEW')
  const { spent, reserved } = (await world.dataOf(LEDGER)).run as unknown as Account
  const tokens = spent.inputTokens + spent.outputTokens
  return { state, outcome: data.outcome, tokens, microdollars: spent.microdollars, reserved }
}

describe('the last turn before a limit of the ledger is forced, also after much was read:', () => {
  test.each<[number, Limits]>([
    [4, { tokensMax: 105_000 }],
    [6, { tokensMax: 112_000 }],
    [10, { tokensMax: 135_000 }],
    [10, { microdollarsMax: 500_000 }],
  ])('%d results at once with %j', async (calls, run) => {
    const brain = reading(calls)
    const { state, tokens, microdollars, reserved } = await code(brain, run)
    expect(state).toBe('TESTING')
    expect(brain.turns.map(({ forcedTool }) => forcedTool)).toEqual([undefined, 'done'])
    expect(tokens).toBeLessThanOrEqual(run.tokensMax ?? Infinity)
    expect(microdollars).toBeLessThanOrEqual(run.microdollarsMax ?? Infinity)
    expect(reserved.inputTokens).toBe(0)
    // Of what was read, the newest is whole.
    const shown = resultsIn(brain.turns.at(-1)).map((text) => text.length)
    expect(shown).toHaveLength(calls)
    expect(shown.at(-1)).toBeGreaterThan(10_000)
  })

  test('it is forced once', async () => {
    const brain = reading(10, 'todo_list')
    const { outcome } = await code(brain, { tokensMax: 135_000 })
    expect(outcome).toMatchObject({ kind: 'spent', what: { what: 'tokens' } })
    expect(brain.turns.map(({ forcedTool }) => forcedTool)).toEqual([undefined, 'done'])
  })

  test('where no turn fits, the limit ends the state', async () => {
    const brain = reading(4)
    const { outcome, tokens } = await code(brain, { tokensMax: 25_000 })
    expect(outcome).toMatchObject({ kind: 'spent', what: { what: 'tokens' } })
    expect(tokens).toBeLessThanOrEqual(25_000)
  })
})
