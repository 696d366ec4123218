import { expect, test } from 'vitest'
import type { Brain } from '../../src/effects/brains/brain.ts'
import type { Account } from '../../src/ledger/ledger.ts'
import { LEDGER, openThinkingWorld } from './world.ts'

const AGENTS = 100
const BUDGET_MICRODOLLARS = 3_000_000
/** 1,000 tokens at 3 microdollars, and 100 at 15. */
const CALL_MICRODOLLARS = 4_500

test('100 agents that race one budget spend no more than it holds', async () => {
  let calls = 0
  let atOnce = 0
  let atOnceMax = 0
  const brain: Brain = {
    name: 'costly',
    async *think() {
      calls += 1
      atOnce += 1
      atOnceMax = Math.max(atOnce, atOnceMax)
      await new Promise((resolve) => setTimeout(resolve, 5 + (calls % 7)))
      atOnce -= 1
      yield { type: 'text', text: 'Hm.' }
      const usage = { inputTokens: 1_000, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 100 }
      yield { type: 'usage', usage }
      yield { type: 'finished', reason: 'stop', model: 'costly' }
    },
  }
  const limits = { run: { microdollarsMax: BUDGET_MICRODOLLARS } }
  const world = await openThinkingWorld({ brain, limits, isolation: 'none' })
  try {
    const agents = await Promise.all(
      Array.from({ length: AGENTS }, (_, i) => world.start(`s${i}`, { turnsMax: 500 }, 'none')),
    )
    for (const agent of agents) {
      const { data } = await world.reach(agent, 'BUDGET_REVIEW')
      expect(data.outcome).toMatchObject({ kind: 'spent', what: { scope: 'run', what: 'money' } })
    }
    const { spent, reserved } = (await world.dataOf(LEDGER)).run as unknown as Account
    expect(atOnceMax).toBeGreaterThan(5)
    expect(spent).toMatchObject({ iterations: calls, microdollars: calls * CALL_MICRODOLLARS })
    expect(reserved.microdollars).toBe(0)
    expect(spent.microdollars).toBeLessThanOrEqual(BUDGET_MICRODOLLARS)
    // Nor is the budget left untouched: what a single further call might cost is all that is left.
    expect(spent.microdollars).toBeGreaterThan(BUDGET_MICRODOLLARS - 200_000)
    console.log(
      `${calls} calls, up to ${atOnceMax} at once, ${spent.microdollars} of ${BUDGET_MICRODOLLARS}`,
    )
  } finally {
    await world.close()
  }
}, 120_000)
