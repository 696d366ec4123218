import { describe, expect, test } from 'vitest'
import { ASSIGNMENT, BLOB, call, MIND, THOUGHT, Thinker } from '../../../test/drill/thinker.ts'
import { type Amounts, NO_AMOUNTS } from '../../ledger/amounts.ts'
import { SPENDING_GRANTED } from '../ledger-keeper.ts'
import type { Json } from '../values.ts'
import type { Wanted } from './turn-request.ts'

const LONG = { tail: BLOB, travelling: [], parts: 9, bytes: 90_000 }

/** What the ledger was asked for last. */
const wanted = (thinker: Thinker) => thinker.sent().at(-1)?.payload as Wanted | undefined

/** Grants less than a whole turn needs. */
function grantShort(thinker: Thinker, inputTokens: number): void {
  const amounts: Amounts = { ...NO_AMOUNTS, iterations: 1, inputTokens, outputTokens: 1_000 }
  const leave = { call: thinker.last.thinking.call, isLast: true, isShort: true, amounts }
  thinker.tell(SPENDING_GRANTED, leave as unknown as Json)
}

/** After a turn whose results do not fit what the ledger has left. */
function beforeShort(mind = MIND): Thinker {
  const thinker = new Thinker({ ...ASSIGNMENT, turnsMax: 20 }, mind)
  thinker.think({ transcript: LONG, contextTokens: 30_000, calls: [call('1', false)] })
  thinker.finish('use_tools', {
    transcript: { ...LONG, parts: 10 },
    answers: [{ id: '1', result: 'hash' }],
  })
  return thinker
}

describe('a turn that gets less than it needs', () => {
  test('is the last, and is cut to what it got', () => {
    const thinker = beforeShort()
    expect(wanted(thinker)?.last?.inputTokens).toBeLessThan(
      wanted(thinker)?.amounts.inputTokens ?? 0,
    )
    grantShort(thinker, 20_000)
    expect(thinker.input()).toMatchObject({
      isLast: true,
      bytesMax: 20_000,
      notes: [{ name: 'last_turn' }],
      tokensReserved: { input: 20_000, output: 1_000 },
    })
  })

  test('is the only one, unless it is tried again', () => {
    const thinker = beforeShort()
    grantShort(thinker, 20_000)
    const failure = { kind: 'interrupted', message: '' }
    thinker.finish('think', { ...THOUGHT, transcript: LONG, failure, isUsageKnown: false })
    expect(wanted(thinker)?.last).toBeDefined()
    grantShort(thinker, 20_000)
    thinker.finish('think', { ...THOUGHT, transcript: LONG })
    expect(wanted(thinker)).toMatchObject({ amounts: { iterations: 1 } })
    expect(wanted(thinker)?.last).toBeUndefined()
  })

  test('asks once more where it cannot be cut so far, and for that much', () => {
    const thinker = beforeShort()
    grantShort(thinker, 4_000)
    const failure = { kind: 'unasked', message: '' }
    thinker.finish('think', { ...THOUGHT, transcript: LONG, failure, contextTokens: 5_000 })
    expect(wanted(thinker)?.last).toMatchObject({ inputTokens: 15_000, outputTokens: 1_000 })
  })
})

test('the first turn of a conversation has nothing that could be cut', () => {
  expect(wanted(new Thinker())?.last).toBeUndefined()
})

test('what an agent of another maker sends cannot be cut', () => {
  const thinker = beforeShort({ ...MIND, sessionTokensMax: 4_000_000 })
  expect(wanted(thinker)?.least).toBeDefined()
  expect(wanted(thinker)?.last).toBeUndefined()
})

describe('a summary', () => {
  const nearWindow = () => {
    const thinker = new Thinker({ ...ASSIGNMENT, turnsMax: 20 })
    thinker.think({ transcript: { ...LONG, bytes: 150_000 }, contextTokens: 45_000, calls: [] })
    return thinker
  }

  test('leaves room for a smaller turn after it', () => {
    const { amounts, next } = wanted(nearWindow()) ?? {}
    expect(next?.inputTokens).toBe(Math.ceil((amounts?.inputTokens ?? 0) / 2))
  })

  test('is not what the last call is for', () => {
    const thinker = nearWindow()
    thinker.grant(true)
    expect(thinker.input()).toMatchObject({ purpose: 'turn', isLast: true, bytesMax: 155_166 })
  })

  test('and the last turn in its place are not asked for without end', () => {
    const thinker = nearWindow()
    const failure = { kind: 'context_overflow', message: 'too long' }
    for (let tries = 0; tries < 2; tries += 1) {
      thinker.grant(true)
      thinker.finish('think', { ...THOUGHT, transcript: LONG, failure, finish: 'failed' })
    }
    expect(thinker.last).toMatchObject({ kind: 'spent', what: 'context' })
  })
})

describe('what is set aside for a request', () => {
  const FRAME_TOKENS = 1_000
  const afterResults = (thought: object, bytes: number) => {
    const thinker = new Thinker({ ...ASSIGNMENT, turnsMax: 20 })
    thinker.think({
      transcript: LONG,
      contextTokens: 30_000,
      calls: [call('1', false)],
      ...thought,
    })
    thinker.finish('use_tools', {
      transcript: { ...LONG, parts: 10, bytes },
      answers: [{ id: '1', result: 'hash' }],
    })
    return wanted(thinker)?.amounts.inputTokens
  }

  test('is what was counted, and a token for each byte since', () => {
    expect(afterResults({}, 95_000)).toBe(30_000 + 5_000 + FRAME_TOKENS)
  })

  test('is a token for each byte of what nobody has counted', () => {
    expect(afterResults({ isUsageKnown: false }, 95_000)).toBeGreaterThanOrEqual(95_000)
  })

  test('is not less because a provider counts less the next time', () => {
    const thinker = new Thinker({ ...ASSIGNMENT, turnsMax: 20 })
    thinker.think({ transcript: LONG, contextTokens: 30_000 })
    thinker.think({ transcript: { ...LONG, bytes: 96_000 }, contextTokens: 200 })
    // What came meanwhile is in neither count; the frame of a note comes to it.
    expect(wanted(thinker)?.amounts.inputTokens).toBe(30_000 + 6_000 + 2 * FRAME_TOKENS)
  })

  test('is not what was counted of a conversation that was cut', () => {
    const thinker = beforeShort()
    grantShort(thinker, 20_000)
    thinker.finish('think', { ...THOUGHT, transcript: LONG, contextTokens: 6_000 })
    expect(wanted(thinker)?.amounts.inputTokens).toBeGreaterThan(30_000)
  })

  test('is measured before the first is sent, and asked for once more', () => {
    const thinker = new Thinker()
    thinker.grant(false)
    const failure = { kind: 'unasked', message: '' }
    thinker.finish('think', { ...THOUGHT, transcript: null, failure, contextTokens: 40_000 })
    expect(wanted(thinker)?.amounts.inputTokens).toBe(120_000 + FRAME_TOKENS)
  })

  test('is no guess any more once the first was counted', () => {
    const thinker = new Thinker({ ...ASSIGNMENT, turnsMax: 20 })
    thinker.grant(false)
    const failure = { kind: 'unasked', message: '' }
    thinker.finish('think', { ...THOUGHT, transcript: null, failure, contextTokens: 40_000 })
    thinker.think({ transcript: LONG, contextTokens: 30_000, calls: [call('1', false)] })
    thinker.finish('use_tools', {
      transcript: { ...LONG, parts: 10, bytes: 95_000 },
      answers: [{ id: '1', result: 'hash' }],
    })
    expect(wanted(thinker)?.amounts.inputTokens).toBe(30_000 + 5_000 + FRAME_TOKENS)
  })
})
