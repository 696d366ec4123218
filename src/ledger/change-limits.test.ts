import { expect, test } from 'vitest'
import { changeLimits, type LimitsChange } from './change-limits.ts'
import type { LedgerLimits } from './ledger.ts'

const LIMITS: LedgerLimits = {
  run: { microdollarsMax: 20, tokensMax: 5 },
  story: { iterationsMax: 3 },
  allowUnpriced: true,
}
const CHOSEN = { isUnpricedChosen: true } as const
const OF_RUN: LimitsChange = { run: { microdollarsMax: 30 }, story: {} }
const OF_STORY: LimitsChange = { run: {}, story: { microdollarsMax: 1 } }
const IN_TOKENS: LimitsChange = { run: { tokensMax: 9 }, story: {} }

test('what is not said stays', () => {
  const { run, story } = changeLimits(LIMITS, OF_STORY)
  expect(run).toEqual(LIMITS.run)
  expect(story).toEqual({ iterationsMax: 3, microdollarsMax: 1 })
})

test.each([
  ['nobody chose, dollars of the run', {}, OF_RUN, false],
  ['nobody chose, dollars of a story', {}, OF_STORY, false],
  ['nobody chose, tokens', {}, IN_TOKENS, true],
  ['allowed before', CHOSEN, OF_RUN, true],
  ['refused before', { ...CHOSEN, allowUnpriced: false }, OF_RUN, false],
  ['allowed with it', {}, { ...OF_RUN, allowUnpriced: true }, true],
  ['a limit in dollars before', { allowUnpriced: false }, IN_TOKENS, false],
] as const)('models without a price after a change: %s', (_, before, change, allowed) => {
  expect(changeLimits({ ...LIMITS, ...before }, change).allowUnpriced).toBe(allowed)
})

test('who was allowed once stays so', () => {
  const allowed = changeLimits(LIMITS, { run: {}, story: {}, allowUnpriced: true })
  expect(changeLimits(changeLimits(allowed, IN_TOKENS), OF_RUN)).toEqual({
    run: { microdollarsMax: 30, tokensMax: 9 },
    story: LIMITS.story,
    allowUnpriced: true,
    ...CHOSEN,
  })
})
