import { describe, expect, test } from 'vitest'
import { ASSIGNMENT, BLOB, call, MIND, THOUGHT, Thinker } from '../../../test/drill/thinker.ts'
import { RESERVE_SPENDING, SETTLE_SPENDING } from '../ledger-keeper.ts'
import { abandonThinking, resumeThinking } from './thinking.ts'

test('nothing is asked of a model before the ledger grants it', () => {
  const thinker = new Thinker()
  expect(thinker.effects()).toEqual([])
  const payload = { agent: 'a', story: 's1', amounts: { iterations: 1 } }
  expect(thinker.last.decision.send).toMatchObject([
    { to: 'ledger', type: RESERVE_SPENDING, payload },
  ])
  thinker.grant()
  expect(thinker.effects()).toMatchObject([{ kind: 'think' }])
})

test('what a turn did cost is settled with the outcome', () => {
  const thinker = new Thinker()
  const step = thinker.think({})
  expect(step?.decision.send?.[0]).toMatchObject({
    type: SETTLE_SPENDING,
    payload: { amounts: { inputTokens: 600, outputTokens: 10, microdollars: 700 } },
  })
})

test('an outcome that is not waited for changes nothing', () => {
  const thinker = new Thinker()
  thinker.grant()
  expect(thinker.finish('think', THOUGHT, 'a:99.0' as never)).toBeUndefined()
  expect(thinker.tell('something_else')).toBeUndefined()
  expect(thinker.grant()).toBeUndefined()
})

test('calls that only read are carried out together, others alone and in order', () => {
  const thinker = new Thinker()
  thinker.think({
    calls: [call('1', true), call('2', true), call('3', false), call('4', false), call('5', true)],
  })
  const batches: unknown[] = []
  for (let i = 0; i < 4; i += 1) {
    const { ids } = thinker.input() as { ids: string[] }
    batches.push(ids)
    thinker.use(ids)
  }
  expect(batches).toEqual([['1', '2'], ['3'], ['4'], ['5']])
  expect(thinker.last.thinking.turn).toBe(2)
})

test('what the prompt is filled in with is stored until the conversation has it, and no longer', () => {
  const thinker = new Thinker()
  thinker.grant()
  expect(JSON.stringify(thinker.agent.data)).toContain('xxx')
  thinker.finish('think', THOUGHT)
  expect(JSON.stringify(thinker.agent.data)).not.toContain('xxx')
})

test('the third answer that is the same makes the fourth call pointless, unless something changed', () => {
  const thinker = new Thinker({ ...ASSIGNMENT, turnsMax: 20 })
  const once = (key = 'k', given: object = {}) => {
    thinker.think({ calls: [call('1', false, key)] })
    const { refused } = thinker.input() as { refused: string[] }
    thinker.use(['1'], given)
    return refused.length
  }
  expect([once(), once(), once(), once(), once()]).toEqual([0, 0, 0, 1, 1])
  once('other')
  expect(once()).toBe(1)
  once('change', { mayHaveChanged: true })
  expect(once()).toBe(0)
})

test('what was put into fewer words may be asked for again, within the turns of the state', () => {
  const thinker = new Thinker({ ...ASSIGNMENT, turnsMax: 12 })
  const once = (contextTokens = 610) => {
    thinker.think({ calls: [call('1', true)], contextTokens })
    const { refused } = thinker.input() as { refused: string[] }
    thinker.use(['1'])
    return refused.length
  }
  const untilLong = () => [once(), once(), once(), once(45_000)]
  const sumUp = () => {
    thinker.grant()
    expect(thinker.input()).toMatchObject({ purpose: 'summary' })
    thinker.finish('think', THOUGHT)
  }
  expect(untilLong()).toEqual([0, 0, 0, 1])
  sumUp()
  expect(untilLong()).toEqual([0, 0, 0, 1])
  sumUp()
  expect(untilLong()).toEqual([0, 0, 0, 1])
  expect(thinker.last).toMatchObject({ kind: 'spent', what: 'turns' })
})

describe('a bound', () => {
  test('of turns is told in the last turn, and reached after it', () => {
    const thinker = new Thinker()
    thinker.think({})
    thinker.think({})
    thinker.grant()
    expect(thinker.input()).toMatchObject({
      isLast: true,
      turn: 3,
      notes: [{}, { name: 'last_turn' }],
    })
    expect(thinker.finish('think', THOUGHT)).toMatchObject({ kind: 'spent', what: 'turns' })
  })

  test('of the ledger is told in the last turn that it grants, in which no other work is done', () => {
    const thinker = new Thinker()
    const asked = thinker.grant(true)?.decision.effects?.[0]?.input
    expect(asked).toMatchObject({ turn: 1, isLast: true, notes: [{ name: 'last_turn' }] })
    const used = thinker.finish('think', { ...THOUGHT, calls: [call('c1', false)] })
    expect(used?.decision.effects?.[0]?.input).toMatchObject({ isLast: true })
    // It cost less than was set aside: there is room for another.
    thinker.use(['c1'])
    const next = thinker.grant(false)?.decision.effects?.[0]?.input
    expect(next).toMatchObject({ turn: 2, isLast: false, notes: [] })
  })

  test('of the window makes the conversation shorter first', () => {
    const thinker = new Thinker()
    const long = { tail: BLOB, travelling: [], parts: 9, bytes: 150_000 }
    thinker.think({ transcript: long, contextTokens: 45_000, calls: [] })
    thinker.grant()
    expect(thinker.input()).toMatchObject({ purpose: 'summary', turn: 2 })
    thinker.finish('think', {
      ...THOUGHT,
      transcript: { tail: BLOB, travelling: [], parts: 1, bytes: 3_000 },
    })
    thinker.grant()
    expect(thinker.input()).toMatchObject({
      purpose: 'turn',
      turn: 2,
      transcript: { bytes: 3_000 },
    })
  })

  test.each([
    ['is no shorter', { tail: BLOB, travelling: [], parts: 1, bytes: 150_000 }],
    ['is shorter, and still too long', { tail: BLOB, travelling: [], parts: 1, bytes: 149_000 }],
  ])('of the window is reached when the summary %s', (_, transcript) => {
    const thinker = new Thinker()
    const long = { tail: BLOB, travelling: [], parts: 9, bytes: 150_000 }
    thinker.think({ transcript: long, contextTokens: 45_000 })
    thinker.grant()
    expect(thinker.finish('think', { ...THOUGHT, transcript })).toMatchObject({
      kind: 'spent',
      what: 'context',
    })
  })

  test('of the window has a summary asked for with half of what the provider did not take', () => {
    const thinker = new Thinker()
    const long = { tail: BLOB, travelling: [], parts: 9, bytes: 150_000 }
    thinker.think({ transcript: long, contextTokens: 45_000, calls: [] })
    const failure = { kind: 'context_overflow', message: 'too long' }
    const asked = () => {
      thinker.grant()
      const { bytesMax } = thinker.input()
      thinker.finish('think', { ...THOUGHT, transcript: long, failure, finish: 'failed' })
      return bytesMax
    }
    // 95% of the window, of which 45,000 tokens were counted for 150,000 bytes.
    expect([asked(), asked(), asked()]).toEqual([155_166, 75_000, 37_500])
    expect(thinker.last).toMatchObject({ kind: 'spent', what: 'context', said: 'too long' })
  })

  test('of the window is reached when nothing can be left out', () => {
    const thinker = new Thinker()
    const failure = { kind: 'context_overflow', message: 'too long' }
    expect(thinker.think({ transcript: null, failure, finish: 'failed' })).toMatchObject({
      kind: 'spent',
      what: 'context',
      said: 'too long',
    })
  })
})

test('a state that is left for another reason gives the turn up and pays for it', () => {
  const thinker = new Thinker()
  thinker.grant()
  const { set, send, cancel } = abandonThinking(thinker.agent)
  expect(cancel).toEqual([thinker.last.thinking.awaits])
  expect(send).toMatchObject([{ type: SETTLE_SPENDING, payload: { amounts: { iterations: 1 } } }])
  expect(set).toMatchObject({ thinking: { awaits: null, reserved: null } })
})

test('leave for a call that was given up is none for the next', () => {
  const thinker = new Thinker()
  const before = thinker.last.thinking.call
  const { set } = abandonThinking(thinker.agent)
  thinker.agent = { ...thinker.agent, data: { ...thinker.agent.data, ...set }, seq: 7 }
  thinker.last = resumeThinking(thinker.agent, 'Go on.', 5)
  thinker.agent = {
    ...thinker.agent,
    data: { ...thinker.agent.data, ...thinker.last.decision.set },
    seq: 8,
  }
  expect(thinker.grant(false, before)).toBe(undefined)
  expect(thinker.grant()).toMatchObject({ kind: 'going' })
  expect(thinker.effects()).toMatchObject([{ kind: 'think' }])
})

test('an answer that fills the window has what was said put into fewer words first', () => {
  const thinker = new Thinker()
  thinker.think({ calls: [call('1', false)] })
  thinker.use(['1'], { ends: { tool: 'ask_question', input: {} } })
  const room = MIND.contextTokens - MIND.outputTokensMax
  const { thinking } = resumeThinking(thinker.agent, 'x'.repeat(room), 5)
  expect(thinking).toMatchObject({ purpose: 'summary', notes: [{ name: 'message' }] })
})

test('an answer goes on with the same conversation, and turns are counted anew', () => {
  const thinker = new Thinker()
  thinker.think({ calls: [call('1', false)] })
  thinker.use(['1'], { ends: { tool: 'ask_question', input: {} } })
  expect(thinker.last).toMatchObject({ kind: 'ended', tool: 'ask_question' })
  const { thinking } = resumeThinking(thinker.agent, 'Use two spaces.', 5)
  expect(thinking).toMatchObject({
    turn: 1,
    transcript: { parts: 3 },
    notes: [{ name: 'message', text: 'Use two spaces.' }],
  })
})
