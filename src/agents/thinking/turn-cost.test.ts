import { describe, expect, test } from 'vitest'
import { ASSIGNMENT, call, MIND, Thinker } from '../../../test/drill/thinker.ts'
import { type Amounts, NO_AMOUNTS } from '../../ledger/amounts.ts'
import { RESERVE_SPENDING, SETTLE_SPENDING, SPENDING_GRANTED } from '../ledger-keeper.ts'
import { OUTAGE } from '../role.ts'
import type { Json } from '../values.ts'
import { abandonThinking, resumeThinking } from './thinking.ts'

describe('what a turn that is given up has cost:', () => {
  const paid = ({ agent }: Thinker, state = 'CODING', reason?: string) => {
    const outage = reason === undefined ? {} : { [OUTAGE]: { reason, tries: 5 } }
    const { send = [] } = abandonThinking({ ...agent, state, data: { ...agent.data, ...outage } })
    return send.map(({ payload }) => (payload as { amounts?: Amounts }).amounts)
  }
  const asked = () => {
    const thinker = new Thinker()
    thinker.grant()
    return { thinker, most: thinker.last.thinking.reserved }
  }

  const OUTAGES = [
    'auth: 401',
    'network: no route',
    'quota: empty',
    'timeout: no end',
    'api is out',
  ]
  test.each(OUTAGES)('nothing after an outage by %s', (reason) => {
    const { thinker } = asked()
    expect(paid(thinker, 'ERROR', reason)).toEqual([NO_AMOUNTS])
    expect(paid(thinker, 'SUSPEND', reason)).toEqual([NO_AMOUNTS])
  })

  test('all while a reply is under way, also where an earlier outage is remembered', () => {
    const { thinker, most } = asked()
    expect(most?.microdollars).toBeGreaterThan(0)
    expect(paid(thinker)).toEqual([most])
    expect(paid(thinker, 'ERROR')).toEqual([most])
    expect(paid(thinker, 'CODING', 'auth: 401')).toEqual([most])
  })

  test('nothing before a model is asked, and none is settled that was not set aside', () => {
    const thinker = new Thinker()
    expect(paid(thinker)).toEqual([NO_AMOUNTS])
    thinker.think({ calls: [call('1', false)] })
    expect(paid(thinker)).toEqual([])
    expect(abandonThinking({ ...thinker.agent, data: {} })).toEqual({})
  })
})

describe('a try that came to nothing after it had cost something', () => {
  const cut = { kind: 'stalled', message: 'cut' }
  const cutAgain = (thinker: Thinker, tries: number) =>
    thinker.think({
      failure: { ...cut, setback: { ...cut, tries } },
      finish: 'failed',
      transcript: null,
    })

  test('is known to the next, and ends the state after ten more', () => {
    const thinker = new Thinker()
    for (let tries = 1; tries <= 10; tries += 1) {
      expect(cutAgain(thinker, tries)).toMatchObject({ kind: 'going' })
      expect(thinker.last.thinking.setback).toEqual({ ...cut, tries, count: tries })
    }
    expect(cutAgain(thinker, 11)).toMatchObject({ kind: 'failed', code: 'stalled' })
  })

  test('is forgotten with its turn, and when somebody has answered', () => {
    const thinker = new Thinker()
    cutAgain(thinker, 1)
    expect(resumeThinking(thinker.agent, 'Go on.', 5).thinking.setback).toBeNull()
    thinker.think({})
    expect(thinker.last.thinking).toMatchObject({ turn: 2, setback: null })
  })

  test('is settled: while the next waits after it, giving up costs nothing', () => {
    const thinker = new Thinker()
    cutAgain(thinker, 1)
    thinker.grant()
    const data = { ...thinker.agent.data, [OUTAGE]: { reason: 'stalled: cut' } }
    const { send = [] } = abandonThinking({ ...thinker.agent, state: 'SUSPEND', data })
    expect(send).toMatchObject([{ type: SETTLE_SPENDING, payload: { amounts: NO_AMOUNTS } }])
  })
})

describe('a turn whose price nobody can tell from what it used', () => {
  const settledOf = (mind = MIND) => {
    const thinker = new Thinker(ASSIGNMENT, mind)
    const most = thinker.last.thinking.reserved
    thinker.think({ microdollars: null })
    return { most, settled: thinker.sent()[0]?.payload.amounts }
  }

  test('has cost the money that was set aside, and is no call without a price', () => {
    const { most, settled } = settledOf()
    const money = { microdollars: most?.microdollars, unpricedCalls: 0 }
    expect(most?.microdollars).toBeGreaterThan(0)
    expect(settled).toMatchObject({ inputTokens: 600, outputTokens: 10, ...money })
  })

  test('is a call without a price where its model has none', () => {
    const { settled } = settledOf({ ...MIND, price: null })
    expect(settled).toMatchObject({ inputTokens: 600, microdollars: 0, unpricedCalls: 1 })
  })
})

test('a turn that was interrupted has cost all that was set aside, and is asked for again', () => {
  const thinker = new Thinker()
  const most = thinker.last.thinking.reserved
  const failure = { kind: 'interrupted', message: '' }
  thinker.think({ failure, finish: 'failed', transcript: null, isUsageKnown: false })
  const [settled, asked] = thinker.sent()
  expect(settled).toMatchObject({ type: SETTLE_SPENDING, payload: { amounts: most } })
  expect(asked).toMatchObject({ type: RESERVE_SPENDING })
  expect(thinker.last.thinking).toMatchObject({ turn: 1, setback: null })
})

test('a turn that is larger than what was set aside has cost nothing, and more is asked for', () => {
  const thinker = new Thinker()
  const failure = { kind: 'unasked', message: '' }
  const contextTokens = 30_000
  thinker.think({ failure, finish: 'failed', transcript: null, isUsageKnown: false, contextTokens })
  const [settled, asked] = thinker.sent()
  expect(settled).toMatchObject({ type: SETTLE_SPENDING, payload: { amounts: NO_AMOUNTS } })
  expect(asked?.payload.amounts.inputTokens).toBeGreaterThan(contextTokens * 1.5)
})

test('an agent has a whole session set aside, makes do with less, and is held to what it got', () => {
  const thinker = new Thinker(ASSIGNMENT, { ...MIND, sessionTokensMax: 1_000_000 })
  const [asked] = thinker.sent()
  const { amounts = NO_AMOUNTS, least = NO_AMOUNTS } = asked?.payload ?? {}
  expect(amounts.inputTokens + amounts.outputTokens).toBe(1_000_000)
  // Any of them may be of the dearest kind.
  expect(amounts.microdollars).toBe(2_000_000)
  expect(least.inputTokens).toBeGreaterThan(0)
  expect(least.inputTokens).toBeLessThan(50_000)
  const granted = { ...amounts, inputTokens: 99_000 }
  thinker.tell(SPENDING_GRANTED, { call: thinker.last.thinking.call, amounts: granted } as Json)
  expect(thinker.input()).toMatchObject({ tokensReserved: { input: 99_000, output: 1_000 } })
  expect(thinker.last.thinking.reserved).toEqual(granted)
})

test('a turn knows when its time is over', () => {
  const thinker = new Thinker()
  thinker.tell(SPENDING_GRANTED, { call: thinker.last.thinking.call, untilMs: 5_000 })
  expect(thinker.input()).toMatchObject({ untilMs: 5_000 })
})
