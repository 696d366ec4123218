import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Amounts, NO_AMOUNTS } from './amounts.ts'
import { accountOf, type LedgerLimits, openLedger, reserve, settle } from './ledger.ts'

const amounts = (given: Partial<Amounts>): Amounts => ({ ...NO_AMOUNTS, ...given })
const limits = (given: Partial<LedgerLimits>): LedgerLimits => ({
  run: {},
  story: {},
  allowUnpriced: false,
  ...given,
})

const call = (given: Partial<Amounts>, story: string | null = 's1') => ({
  story,
  amounts: amounts(given),
})

describe('a limit', () => {
  test.each([
    ['iterations', { iterationsMax: 10 }, { iterations: 10 }, { iterations: 11 }],
    ['tokens', { tokensMax: 100 }, { inputTokens: 60, outputTokens: 40 }, { inputTokens: 101 }],
    ['money', { microdollarsMax: 5 }, { microdollars: 5 }, { microdollars: 6 }],
  ])('of %s is met at the limit and gone over by one more', (what, bound, fits, tooMuch) => {
    for (const scope of ['run', 'story'] as const) {
      const bounds = limits({ [scope]: bound })
      expect(reserve(openLedger(0), bounds, 'a', call(fits), 0).ok).toBe(true)
      expect(reserve(openLedger(0), bounds, 'a', call(tooMuch), 0)).toMatchObject({
        ok: false,
        exhausted: { scope, what },
      })
    }
  })

  test('of time is for the run', () => {
    const bounds = limits({ run: { elapsedMsMax: 1_000 } })
    expect(reserve(openLedger(500), bounds, 'a', call({}), 1_500).ok).toBe(true)
    expect(reserve(openLedger(500), bounds, 'a', call({}), 1_501)).toMatchObject({
      ok: false,
      exhausted: { what: 'time', limit: 1_000, wanted: 1_001 },
    })
  })

  test('of money refuses what has no known price, unless that is allowed', () => {
    const unpriced = call({ unpricedCalls: 1 })
    const bounded = { run: { microdollarsMax: 1_000_000 } }
    expect(reserve(openLedger(0), limits(bounded), 'a', unpriced, 0)).toMatchObject({
      ok: false,
      exhausted: { what: 'unpriced' },
    })
    const allowed = limits({ ...bounded, allowUnpriced: true })
    expect(reserve(openLedger(0), allowed, 'a', unpriced, 0).ok).toBe(true)
    expect(reserve(openLedger(0), limits({}), 'a', unpriced, 0).ok).toBe(true)
  })
})

describe('a reservation', () => {
  test('counts until it is settled with what it really cost', () => {
    const bounds = limits({ run: { tokensMax: 100 } })
    const first = reserve(openLedger(0), bounds, 'a', call({ inputTokens: 80 }), 0)
    if (!first.ok) throw new Error('refused')
    expect(reserve(first.ledger, bounds, 'b', call({ inputTokens: 30 }), 0).ok).toBe(false)
    const settled = settle(first.ledger, 'a', amounts({ inputTokens: 10 }))
    expect(reserve(settled, bounds, 'b', call({ inputTokens: 30 }), 0).ok).toBe(true)
    expect(accountOf(settled, 's1')).toEqual({
      spent: amounts({ inputTokens: 10 }),
      reserved: NO_AMOUNTS,
    })
  })

  test('made or settled twice counts once', () => {
    const bounds = limits({ run: { iterationsMax: 1 } })
    const first = reserve(openLedger(0), bounds, 'a', call({ iterations: 1 }), 0)
    if (!first.ok) throw new Error('refused')
    expect(reserve(first.ledger, bounds, 'a', call({ iterations: 1 }), 0)).toEqual(first)
    const once = settle(first.ledger, 'a', amounts({ iterations: 1 }))
    expect(settle(once, 'a', amounts({ iterations: 1 }))).toBe(once)
  })

  test('of a story named like a property of every object is like any other', () => {
    const made = reserve(openLedger(0), limits({}), 'toString', call({}, 'constructor'), 0)
    if (!made.ok) throw new Error('refused')
    expect(Object.keys(made.ledger.reservations)).toEqual(['toString'])
  })

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('of %d is a bug', (inputTokens) => {
    expect(() => reserve(openLedger(0), limits({}), 'a', call({ inputTokens }), 0)).toThrow()
  })
})

test('100 agents that race one budget never spend more than it holds', () => {
  const step = fc.record({
    agent: fc.integer({ min: 0, max: 99 }),
    wanted: fc.integer({ min: 0, max: 50 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    settles: fc.boolean(),
  })
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 400 }),
      fc.integer({ min: 0, max: 500 }),
      (steps, max) => {
        const bounds = limits({ run: { microdollarsMax: max } })
        let ledger = openLedger(0)
        for (const [i, { agent, wanted, share, settles }] of steps.entries()) {
          const id = `${agent}:${i}`
          const asked = reserve(ledger, bounds, id, call({ microdollars: wanted }, `s${agent}`), 0)
          if (!asked.ok) continue
          ledger = asked.ledger
          const actual = amounts({ microdollars: Math.floor(wanted * share) })
          if (settles) ledger = settle(ledger, id, actual)
        }
        const { spent, reserved } = ledger.run
        expect(spent.microdollars + reserved.microdollars).toBeLessThanOrEqual(max)
        const perStory = Object.values(ledger.stories)
        const sum = perStory.reduce((total, account) => total + account.spent.microdollars, 0)
        expect(sum).toBe(spent.microdollars)
      },
    ),
  )
})
