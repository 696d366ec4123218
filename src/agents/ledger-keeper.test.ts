import { describe, expect, test } from 'vitest'
import { NO_AMOUNTS } from '../ledger/amounts.ts'
import type { LedgerLimits } from '../ledger/ledger.ts'
import {
  CLOSE_STORY,
  ledgerKeeper,
  OPEN_BOOKS,
  RESERVE_SPENDING,
  SETTLE_SPENDING,
  SPENDING_GRANTED,
  SPENDING_REFUSED,
} from './ledger-keeper.ts'
import { TIMER_FIRED } from './role.ts'
import type { AgentId, Json, JsonObject } from './values.ts'

const limits = (given: Partial<LedgerLimits>): LedgerLimits => ({
  run: {},
  story: {},
  allowUnpriced: false,
  ...given,
})
const tokens = (inputTokens: number) => ({ ...NO_AMOUNTS, iterations: 1, inputTokens })

/** The keeper with its data, told one message after the other. */
function keep(given: Partial<LedgerLimits>) {
  const role = ledgerKeeper
  let data: JsonObject = { ...role.initialData, limits: limits(given) as unknown as Json }
  let seq = 0
  let clocks: object = {}
  const tell = (type: string, payload: object, atMs = 0) => {
    seq += 1
    const agent = { id: 'l' as AgentId, state: 'OPEN', origin: null, data, generation: 1, seq }
    const event = { id: `e${seq}`, type, payload: payload as Json, atMs }
    const { set = {}, send = [], timers = {} } = role.handle(agent, event)
    clocks = timers
    const next = Object.entries({ ...data, ...set }).filter(([, value]) => value !== null)
    data = Object.fromEntries(next)
    return send.map((message) => message.type)
  }
  return {
    tell,
    reserve: (agent: string, story: string | null, amount: number, atMs = 0) =>
      tell(RESERVE_SPENDING, { agent, story, amounts: tokens(amount) }, atMs),
    settle: (agent: string, amount: number) =>
      tell(SETTLE_SPENDING, { agent, amounts: tokens(amount) }),
    close: (story: string) => tell(CLOSE_STORY, { story }),
    data: () => data,
    /** Those that the last message has set. */
    timers: () => clocks,
  }
}

test('a call is granted at the limit and refused over it', () => {
  const { reserve, settle } = keep({ story: { tokensMax: 100 } })
  expect(reserve('a', 's1', 100)).toEqual([SPENDING_GRANTED])
  expect(reserve('b', 's2', 100)).toEqual([SPENDING_GRANTED])
  settle('b', 100)
  expect(reserve('b', 's2', 1)).toEqual([SPENDING_REFUSED])
  settle('a', 40)
  expect(reserve('a', 's1', 60)).toEqual([SPENDING_GRANTED])
  expect(reserve('a', 's1', 61)).toEqual([SPENDING_REFUSED])
})

test('a call that can make do with less as the last is told so before it is refused', () => {
  const { tell, reserve, settle, data } = keep({ run: { tokensMax: 100 } })
  const asked = { agent: 'a', story: 's1', amounts: tokens(80), last: tokens(20) }
  reserve('b', 's1', 50)
  settle('b', 50)
  expect(tell(RESERVE_SPENDING, asked)).toEqual([SPENDING_GRANTED])
  expect(data()['open:a']).toMatchObject({ amounts: tokens(50) })
  settle('a', 50)
  expect(tell(RESERVE_SPENDING, { ...asked, agent: 'c' })).toEqual([SPENDING_REFUSED])
})

test('a call whose end nobody told counts in full when its agent asks again', () => {
  const { reserve, data } = keep({ run: { tokensMax: 100 } })
  reserve('a', 's1', 70)
  expect(reserve('a', 's1', 31)).toEqual([SPENDING_REFUSED])
  expect(data().run).toMatchObject({ spent: { inputTokens: 70 }, reserved: { inputTokens: 0 } })
  expect(reserve('a', 's2', 30)).toEqual([SPENDING_GRANTED])
  expect(data()['story:s1']).toMatchObject({ spent: { inputTokens: 70 } })
})

test('time counts from the first call', () => {
  const { reserve } = keep({ run: { elapsedMsMax: 1_000 } })
  expect(reserve('a', null, 1, 5_000)).toEqual([SPENDING_GRANTED])
  expect(reserve('a', null, 1, 6_000)).toEqual([SPENDING_GRANTED])
  expect(reserve('a', null, 1, 6_001)).toEqual([SPENDING_REFUSED])
})

test('a story that is closed leaves its total in the run, and nothing else', () => {
  const { reserve, settle, close, data } = keep({})
  reserve('a', 's1', 50)
  settle('a', 20)
  reserve('a', 's1', 30)
  // An answer would be a row of somebody who does not wait for it.
  expect(close('s1')).toEqual([])
  expect(Object.keys(data()).sort()).toEqual(['limits', 'run', 'startedMs'])
  expect(data().run).toMatchObject({ spent: { inputTokens: 50 }, reserved: { inputTokens: 0 } })
  settle('a', 5)
  expect(data().run).toMatchObject({ spent: { inputTokens: 50 }, reserved: { inputTokens: 0 } })
})

test('a run that has used up what it may is shown as such, until it gets more', () => {
  const view = (state: string, run: object) => ({
    id: 'l' as AgentId,
    state,
    origin: null,
    data: { ...ledgerKeeper.initialData, limits: limits({ run }) as unknown as Json },
    generation: 1,
    seq: 1,
  })
  const payload = { agent: 'a', story: 's1', amounts: tokens(11) } as unknown as Json
  const event = { id: 'e', type: RESERVE_SPENDING, payload, atMs: 0 }
  const { handle } = ledgerKeeper
  expect(handle(view('OPEN', { tokensMax: 10 }), event).move?.to).toBe('SPENT')
  expect(handle(view('OPEN', { tokensMax: 11 }), event).move).toBeUndefined()
  // What fits the limits is granted in either state.
  const inSpent = handle(view('SPENT', { tokensMax: 11 }), event)
  expect(inSpent.send?.map(({ type }) => type)).toEqual([SPENDING_GRANTED])
  const more = { id: 'e', type: OPEN_BOOKS, payload: limits({}) as unknown as Json, atMs: 0 }
  expect(handle(view('SPENT', {}), more).move).toEqual({ event: 'budget_granted', to: 'OPEN' })
})

test('a run that refuses a call for want of its price has not spent what it may', () => {
  const { tell, data } = keep({ run: { microdollarsMax: 1_000 } })
  const amounts = { ...tokens(10), unpricedCalls: 1 }
  expect(tell(RESERVE_SPENDING, { agent: 'a', story: 's1', amounts })).toEqual([SPENDING_REFUSED])
  const agent = { id: 'l' as AgentId, state: 'OPEN', origin: null, generation: 1, seq: 1 }
  const payload = { agent: 'a', story: 's1', amounts } as unknown as Json
  const event = { id: 'e', type: RESERVE_SPENDING, payload, atMs: 0 }
  expect(ledgerKeeper.handle({ ...agent, data: data() }, event).move).toBeUndefined()
})

test('the row of a call holds what changed, however many stories there are', () => {
  const { reserve, settle, data } = keep({})
  for (let i = 0; i < 1_000; i += 1) {
    reserve('a', `s${i}`, 1)
    settle('a', 1)
  }
  const agent = {
    id: 'l' as AgentId,
    state: 'OPEN',
    origin: null,
    data: data(),
    generation: 1,
    seq: 1,
  }
  const payload = { agent: 'a', story: 's1', amounts: tokens(1) }
  const { set } = ledgerKeeper.handle(agent, { id: 'e', type: RESERVE_SPENDING, payload, atMs: 0 })
  expect(JSON.stringify(set).length).toBeLessThan(2_000)
})

describe('what others have set aside is not spent', () => {
  const WAITS: string[] = []

  /** Two calls are under way, and there is room for one more, but not for another after it. */
  const busy = () => {
    const keeper = keep({ run: { tokensMax: 200 } })
    for (const agent of ['a', 'b']) keeper.reserve(agent, agent, 60)
    return keeper
  }

  test('a call waits that would be the last, or be refused, because of them alone', () => {
    const { reserve, settle, data } = busy()
    expect(reserve('c', 'c', 60)).toEqual(WAITS)
    expect(reserve('d', 'd', 150)).toEqual(WAITS)
    expect(settle('a', 10)).toEqual([SPENDING_GRANTED])
    expect(data()['open:c']).toMatchObject({ amounts: tokens(60) })
    expect(settle('b', 10)).toEqual(WAITS)
    // Alone, it is the last, and that is no matter of others.
    expect(settle('c', 10)).toEqual([SPENDING_GRANTED])
    expect(data()).not.toHaveProperty('line')
  })

  test('who comes later gets no leave before who waits', () => {
    const { reserve, settle } = busy()
    expect(reserve('c', 'c', 60)).toEqual(WAITS)
    expect(reserve('d', 'd', 1)).toEqual(WAITS)
    expect(settle('a', 10)).toEqual([SPENDING_GRANTED, SPENDING_GRANTED])
  })

  test('when nobody is under way any more, nobody waits', () => {
    const { reserve, settle } = busy()
    for (const agent of ['c', 'd']) expect(reserve(agent, agent, 130)).toEqual(WAITS)
    expect(settle('a', 60)).toEqual(WAITS)
    expect(settle('b', 60)).toEqual([SPENDING_REFUSED, SPENDING_REFUSED])
  })

  test('who gives its call up waits for nothing', () => {
    const { reserve, settle, data } = busy()
    reserve('c', 'c', 60)
    expect(settle('c', 0)).toEqual(WAITS)
    expect(settle('a', 10)).toEqual(WAITS)
    expect(Object.keys(data()).filter((key) => /^(?:line|waiting)/.test(key))).toEqual([])
  })

  test('who waits for a story that is closed has its answer, and what the story held is counted', () => {
    const { reserve, settle, close, data } = busy()
    reserve('architect', 'c', 60)
    reserve('d', 'd', 60)
    expect(close('c')).toEqual(WAITS)
    expect(data().line).toEqual(['architect', 'd'])
    // 60 are spent and 60 set aside: there is room for one, and for none after it.
    expect(close('a')).toEqual(WAITS)
    expect(close('b')).toEqual([SPENDING_GRANTED])
    expect(settle('architect', 0)).toEqual([SPENDING_GRANTED])
    expect(data()).not.toHaveProperty('line')
  })

  test('nobody waits any more for what a story has used when it is closed', () => {
    const { reserve, close } = keep({ story: { tokensMax: 100 } })
    reserve('coder', 'c', 60)
    expect(reserve('architect', 'c', 60)).toEqual(WAITS)
    expect(close('c')).toEqual([SPENDING_GRANTED])
  })

  test('with more to spend, they go on', () => {
    const { reserve, tell } = busy()
    reserve('c', 'c', 60)
    const more = limits({ run: { tokensMax: 1_000 } })
    expect(tell(OPEN_BOOKS, more)).toEqual([SPENDING_GRANTED])
  })

  test('who has waited for three hours, as long as a turn may take, is told how it is', () => {
    const { reserve, tell } = busy()
    reserve('c', 'c', 100, 1_000)
    expect(tell(TIMER_FIRED, {}, 10_800_999)).toEqual(WAITS)
    expect(tell(TIMER_FIRED, {}, 10_801_000)).toEqual([SPENDING_REFUSED])
  })

  test('time in which nothing ran is no time to wait', () => {
    const { reserve, tell, timers } = busy()
    reserve('c', 'c', 100, 1_000)
    reserve('d', 'd', 100, 2_000)
    expect(timers()).toEqual({ patience: 10_801_000 })
    const backMs = 50_000_000
    expect(tell(TIMER_FIRED, {}, backMs)).toEqual(WAITS)
    expect(timers()).toEqual({ patience: backMs + 10_800_000 })
    // Nor does it count where something else happens before the clock strikes.
    const laterMs = backMs + 20_000_000
    expect(reserve('e', 'e', 1, laterMs)).toEqual(WAITS)
    expect(tell(TIMER_FIRED, {}, laterMs)).toEqual(WAITS)
    const answers = [SPENDING_REFUSED, SPENDING_REFUSED, SPENDING_GRANTED]
    expect(tell(TIMER_FIRED, {}, laterMs + 10_800_000)).toEqual(answers)
  })
})
