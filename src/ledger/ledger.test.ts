import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Amounts, NO_AMOUNTS } from './amounts.ts'
import {
  accountOf,
  type LedgerLimits,
  openLedger,
  reserve,
  reserveLast,
  reserveUpTo,
  settle,
} from './ledger.ts'

const amounts = (given: Partial<Amounts>): Amounts => ({ ...NO_AMOUNTS, ...given })
const limits = (given: Partial<LedgerLimits>): LedgerLimits => ({
  run: {},
  story: {},
  allowUnpriced: false,
  ...given,
})

const call = (given: Partial<Amounts>, story: string | null = 's1', atMs = 0) => ({
  story,
  amounts: amounts(given),
  atMs,
})

describe('a limit', () => {
  test.each([
    ['iterations', { iterationsMax: 10 }, { iterations: 10 }, { iterations: 11 }],
    ['tokens', { tokensMax: 100 }, { inputTokens: 60, outputTokens: 40 }, { inputTokens: 101 }],
    ['money', { microdollarsMax: 5 }, { microdollars: 5 }, { microdollars: 6 }],
  ])('of %s is met at the limit and gone over by one more', (what, bound, fits, tooMuch) => {
    for (const scope of ['run', 'story'] as const) {
      const bounds = limits({ [scope]: bound })
      expect(reserve(openLedger(0), bounds, 'a', call(fits)).ok).toBe(true)
      expect(reserve(openLedger(0), bounds, 'a', call(tooMuch))).toMatchObject({
        ok: false,
        exhausted: { scope, what },
      })
    }
  })

  test('of time is counted for a story from its first call on', () => {
    const bounds = limits({ story: { elapsedMsMax: 1_000 } })
    const first = reserve(openLedger(0), bounds, 'a', call({}, 's1', 5_000))
    if (!first.ok) throw new Error('refused')
    const settled = settle(first.ledger, 'a', NO_AMOUNTS, 5_400)
    expect(reserve(settled, bounds, 'b', call({}, 's1', 6_000)).ok).toBe(true)
    expect(reserve(settled, bounds, 'b', call({}, 's1', 6_001))).toMatchObject({
      ok: false,
      exhausted: { scope: 'story', what: 'time', limit: 1_000, wanted: 1_001 },
    })
    expect(reserve(settled, bounds, 'b', call({}, 's2', 6_001)).ok).toBe(true)
  })

  test.each(['run', 'story'] as const)('of a %s is known before it is in the way', (scope) => {
    const bounds = limits({ [scope]: { iterationsMax: 2 } })
    const first = reserve(openLedger(0), bounds, 'a', call({ iterations: 1 }))
    if (!first.ok) throw new Error('refused')
    expect(first.isLast).toBe(false)
    const second = reserve(first.ledger, bounds, 'b', call({ iterations: 1 }))
    expect(second).toMatchObject({ ok: true, isLast: true })
  })

  test('of time is for the run', () => {
    const bounds = limits({ run: { elapsedMsMax: 1_000 } })
    expect(reserve(openLedger(500), bounds, 'a', call({}, 's1', 1_500)).ok).toBe(true)
    expect(reserve(openLedger(500), bounds, 'a', call({}, 's1', 1_501))).toMatchObject({
      ok: false,
      exhausted: { what: 'time', limit: 1_000, wanted: 1_001 },
    })
  })

  test('of money refuses what has no known price, unless that is allowed', () => {
    const unpriced = call({ unpricedCalls: 1 })
    const bounded = { run: { microdollarsMax: 1_000_000 } }
    expect(reserve(openLedger(0), limits(bounded), 'a', unpriced)).toMatchObject({
      ok: false,
      exhausted: { what: 'unpriced' },
    })
    const allowed = limits({ ...bounded, allowUnpriced: true })
    expect(reserve(openLedger(0), allowed, 'a', unpriced).ok).toBe(true)
    expect(reserve(openLedger(0), limits({}), 'a', unpriced).ok).toBe(true)
  })

  describe('of money that is set after a call without a price', () => {
    const priced = call({ iterations: 1, inputTokens: 40, microdollars: 40 })
    const unpriced = call({ iterations: 1, inputTokens: 40, unpricedCalls: 1 })
    const leastOf = ({ amounts: { unpricedCalls } }: typeof priced) =>
      amounts({
        iterations: 1,
        inputTokens: 10,
        microdollars: unpricedCalls ? 0 : 10,
        unpricedCalls,
      })
    const WAYS = {
      reserve: (bounds: LedgerLimits, wanted: typeof priced) =>
        reserve(asked(), bounds, 'b', wanted),
      reserveUpTo: (bounds: LedgerLimits, wanted: typeof priced) =>
        reserveUpTo(asked(), bounds, 'b', wanted, leastOf(wanted)),
      reserveLast: (bounds: LedgerLimits, wanted: typeof priced) =>
        reserveLast(asked(), bounds, 'b', wanted, leastOf(wanted)),
    }
    /** One such call is settled, and one is under way. */
    const asked = () => {
      const first = reserve(openLedger(0), limits({}), 'a', unpriced)
      if (!first.ok) throw new Error('refused')
      const settled = settle(first.ledger, 'a', unpriced.amounts, 0)
      const second = reserve(settled, limits({}), 'a', unpriced)
      if (!second.ok) throw new Error('refused')
      return second.ledger
    }

    describe.each(['run', 'story'] as const)('for a %s', (scope) => {
      test.each(Object.entries(WAYS))('keeps none out that has one: %s', (name, ask) => {
        const bounds = limits({ [scope]: { microdollarsMax: 1_000 } })
        const isLast = name === 'reserveLast'
        expect(ask(bounds, priced)).toMatchObject({ ok: true, isLast })
        const exhausted = { scope, what: 'unpriced', limit: 0, wanted: 1 }
        expect(ask(bounds, unpriced)).toEqual({ ok: false, exhausted })
        // What was asked for without a price is no money.
        expect(ask(limits({ [scope]: { microdollarsMax: 9 } }), priced)).toMatchObject({
          ok: false,
          exhausted: { scope, what: 'money' },
        })
      })
    })
  })
})

describe('a reservation', () => {
  test('counts until it is settled with what it really cost', () => {
    const bounds = limits({ run: { tokensMax: 100 } })
    const first = reserve(openLedger(0), bounds, 'a', call({ inputTokens: 80 }))
    if (!first.ok) throw new Error('refused')
    expect(reserve(first.ledger, bounds, 'b', call({ inputTokens: 30 })).ok).toBe(false)
    const settled = settle(first.ledger, 'a', amounts({ inputTokens: 10 }), 250)
    expect(reserve(settled, bounds, 'b', call({ inputTokens: 30 })).ok).toBe(true)
    expect(accountOf(settled, 's1')).toEqual({
      spent: amounts({ inputTokens: 10, elapsedMs: 250 }),
      reserved: NO_AMOUNTS,
      startedMs: 0,
    })
  })

  test('made or settled twice counts once', () => {
    const bounds = limits({ run: { iterationsMax: 1 } })
    const first = reserve(openLedger(0), bounds, 'a', call({ iterations: 1 }))
    if (!first.ok) throw new Error('refused')
    expect(reserve(first.ledger, bounds, 'a', call({ iterations: 1 }))).toEqual(first)
    const once = settle(first.ledger, 'a', amounts({ iterations: 1 }), 0)
    expect(settle(once, 'a', amounts({ iterations: 1 }), 0)).toBe(once)
  })

  test('of a story named like a property of every object is like any other', () => {
    const made = reserve(openLedger(0), limits({}), 'toString', call({}, 'constructor'))
    if (!made.ok) throw new Error('refused')
    expect(Object.keys(made.ledger.reservations)).toEqual(['toString'])
  })

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('of %d is refused', (inputTokens) => {
    const asked = reserve(openLedger(0), limits({}), 'a', call({ inputTokens }))
    expect(asked).toMatchObject({ ok: false, exhausted: { scope: 'run', what: 'tokens' } })
  })
})

test('what was spent is no amount: it may have been all that was set aside', () => {
  const made = reserve(openLedger(0), limits({}), 'a', call({ inputTokens: 100 }))
  if (!made.ok) throw new Error('refused')
  const { run } = settle(made.ledger, 'a', amounts({ inputTokens: 0.5 }), 0)
  expect([run.spent.inputTokens, run.reserved.inputTokens]).toEqual([100, 0])
})

describe('a reservation of up to so much', () => {
  const least = amounts({ inputTokens: 10 })
  const upTo = (tokensMax: number) =>
    reserveUpTo(
      openLedger(0),
      limits({ run: { tokensMax } }),
      'a',
      call({ inputTokens: 800 }),
      least,
    )

  test.each([
    [810, 800],
    [809, 400],
    [110, 100],
    [109, 50],
    [19, 13],
    [10, 10],
  ])('of %d left is of %d', (left, granted) => {
    const asked = upTo(left)
    expect(asked).toMatchObject({ ok: true, amounts: { inputTokens: granted } })
    expect(asked.ok && asked.ledger.run.reserved.inputTokens).toBe(granted)
    // Room is left for another of the least, where that is possible.
    expect(asked).toMatchObject({ isLast: left - granted < 10 })
  })

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('of %d is refused', (inputTokens) => {
    const asked = reserveUpTo(openLedger(0), limits({}), 'a', call({ inputTokens }), least)
    expect(asked).toMatchObject({ ok: false })
  })

  test('of less than the least is refused', () => {
    expect(upTo(9)).toMatchObject({ ok: false, exhausted: { what: 'tokens', wanted: 10 } })
  })
})

test('a reservation of which nothing can be halved any more comes to an end', () => {
  const most = call({ iterations: 1, inputTokens: 1, outputTokens: 1 })
  const least = amounts({ iterations: 1, outputTokens: 1 })
  for (const reserveSome of [reserveUpTo, reserveLast]) {
    const asked = reserveSome(openLedger(0), limits({ run: { tokensMax: 1 } }), 'a', most, least)
    expect(asked).toMatchObject({ ok: true, amounts: { inputTokens: 0, outputTokens: 1 } })
    const none = amounts({ iterations: 1 })
    const spent = reserveSome(openLedger(0), limits({ run: { tokensMax: 0 } }), 'a', most, none)
    expect(spent).toMatchObject({ ok: true, amounts: { inputTokens: 0, outputTokens: 0 } })
  }
})

describe('a reservation for the last call', () => {
  const least = amounts({ iterations: 1, inputTokens: 100, outputTokens: 50 })
  const whole = { iterations: 1, inputTokens: 900, outputTokens: 50 }
  const lastOf = (tokensMax: number, given = whole) =>
    reserveLast(openLedger(0), limits({ run: { tokensMax } }), 'a', call(given), least)

  test.each([
    [949, 500],
    [550, 500],
    [549, 300],
    [250, 200],
    [152, 102],
    [150, 100],
  ])('of %d tokens left has %d of input, and all of the output', (left, inputTokens) => {
    expect(lastOf(left)).toMatchObject({
      ok: true,
      isLast: true,
      amounts: { iterations: 1, inputTokens, outputTokens: 50 },
    })
  })

  test('of less than the least is refused', () => {
    expect(lastOf(149)).toMatchObject({ ok: false, exhausted: { what: 'tokens' } })
  })

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('of %d is refused', (inputTokens) => {
    expect(lastOf(1_000, { ...whole, inputTokens })).toMatchObject({ ok: false })
  })
})

test('a call that is followed by a smaller one is the last only where that has no room', () => {
  const bounds = limits({ run: { tokensMax: 150 } })
  const asked = (next?: Amounts) =>
    reserve(openLedger(0), bounds, 'a', call({ inputTokens: 100 }), next)
  expect(asked()).toMatchObject({ ok: true, isLast: true })
  expect(asked(amounts({ inputTokens: 50 }))).toMatchObject({ ok: true, isLast: false })
  expect(asked(amounts({ inputTokens: 51 }))).toMatchObject({ ok: true, isLast: true })
})

describe('the end of its time', () => {
  const hour = { elapsedMsMax: 3_600 }
  const at = (bounds: Partial<LedgerLimits>, story: string | null) => {
    const made = reserve(openLedger(1_000), limits(bounds), 'a', call({}, story, 2_000))
    return made.ok ? made.untilMs : 'refused'
  }

  test('is told with a reservation: that of the run or of the story, whichever is first', () => {
    expect(at({}, 's1')).toBeUndefined()
    expect(at({ run: hour }, 's1')).toBe(4_600)
    expect(at({ story: hour }, 's1')).toBe(5_600)
    expect(at({ run: hour, story: hour }, 's1')).toBe(4_600)
    expect(at({ story: hour }, null)).toBeUndefined()
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
          const asked = reserve(ledger, bounds, id, call({ microdollars: wanted }, `s${agent}`))
          if (!asked.ok) continue
          ledger = asked.ledger
          const actual = amounts({ microdollars: Math.floor(wanted * share) })
          if (settles) ledger = settle(ledger, id, actual, 0)
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
