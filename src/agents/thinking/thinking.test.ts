import { describe, expect, test } from 'vitest'
import { type Amounts, NO_AMOUNTS } from '../../ledger/amounts.ts'
import { RESERVE_SPENDING, SETTLE_SPENDING, SPENDING_GRANTED } from '../ledger-keeper.ts'
import { type AgentView, EFFECT_FINISHED, OUTAGE } from '../role.ts'
import type { AgentId, Json, JsonObject } from '../values.ts'
import type { Assignment, Mind } from './assignment.ts'
import type { Thought } from './outcomes.ts'
import {
  abandonThinking,
  beginThinking,
  continueThinking,
  resumeThinking,
  type ThinkingStep,
} from './thinking.ts'

const ASSIGNMENT: Assignment = {
  task: 'coder/coding',
  withheld: [],
  state: 'CODING',
  story: 's1',
  workspace: { run: 'r', story: 's1' },
  variables: { story: 'x'.repeat(300) },
  turnsMax: 3,
}
const MIND: Mind = {
  brain: 'model',
  contextTokens: 50_000,
  outputTokensMax: 1_000,
  price: { inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 },
  ledger: 'ledger' as AgentId,
}
const BLOB = { sha256: 'b', bytes: 900 }
const THOUGHT: Thought = {
  transcript: { tail: BLOB, travelling: [], parts: 2, bytes: 1_800 },
  calls: [],
  finish: 'stop',
  failure: null,
  tokens: { input: 600, cached: 0, output: 10 },
  contextTokens: 610,
  isUsageKnown: true,
  microdollars: 700,
  model: 'm',
  said: '',
}
const call = (id: string, isReadOnly: boolean, key = id) => ({ id, name: 't', isReadOnly, key })

interface Told {
  readonly type: string
  readonly payload: { readonly amounts: Amounts; readonly least?: Amounts }
}

/** An agent's thinking, told one event after the other. */
class Thinker {
  agent: AgentView = {
    id: 'a' as AgentId,
    state: 'CODING',
    origin: null,
    data: {},
    generation: 1,
    seq: 0,
  }
  last: ThinkingStep

  constructor(assignment = ASSIGNMENT, mind = MIND) {
    this.last = beginThinking(this.agent, assignment, mind)
    this.#apply(this.last)
  }

  #apply({ decision }: ThinkingStep): void {
    const data: JsonObject = { ...this.agent.data, ...decision.set }
    this.agent = { ...this.agent, data, seq: this.agent.seq + 1 }
  }

  tell(type: string, payload: Json = null): ThinkingStep | undefined {
    const step = continueThinking(this.agent, { id: 'e', type, payload, atMs: 0 })
    if (step === undefined) return undefined
    this.#apply(step)
    this.last = step
    return step
  }

  grant = (isLast = false, call = this.last.thinking.call) =>
    this.tell(SPENDING_GRANTED, { call, isLast })

  finish(
    kind: string,
    value: unknown,
    effect = this.last.thinking.awaits,
  ): ThinkingStep | undefined {
    return this.tell(EFFECT_FINISHED, { effect, kind, result: { ok: true, value } } as Json)
  }

  think(thought: Partial<Thought>): ThinkingStep | undefined {
    this.grant()
    return this.finish('think', { ...THOUGHT, ...thought })
  }

  use(ids: readonly string[], given: object = {}): ThinkingStep | undefined {
    const transcript = { tail: BLOB, travelling: [], parts: 3, bytes: 2_700 }
    const answers = ids.map((id) => ({
      id,
      isError: false,
      result: 'same',
      mayHaveChanged: false,
      ends: null,
      ...given,
    }))
    return this.finish('use_tools', { transcript, answers })
  }

  effects = () => this.last.decision.effects ?? []
  /** What the ledger is told. */
  sent = () => (this.last.decision.send ?? []) as unknown as readonly Told[]
  input = () => this.effects()[0]?.input as unknown as Record<string, unknown>
}

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

  test('of the window is reached when nothing can be left out', () => {
    const thinker = new Thinker()
    const failure = { kind: 'context_overflow', message: 'too long' }
    expect(thinker.think({ transcript: null, failure, finish: 'failed' })).toMatchObject({
      kind: 'spent',
      what: 'context',
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

  test.each(['auth: 401', 'network: no route', 'quota: empty', 'api is out'])(
    'nothing after an outage by %s',
    (reason) => {
      const { thinker } = asked()
      expect(paid(thinker, 'ERROR', reason)).toEqual([NO_AMOUNTS])
      expect(paid(thinker, 'SUSPEND', reason)).toEqual([NO_AMOUNTS])
    },
  )

  test.each(['timeout: no end', 'stalled: no word'])(
    'all where a reply was lost by %s',
    (reason) => {
      const { thinker, most } = asked()
      expect(paid(thinker, 'ERROR', reason)).toEqual([most])
    },
  )

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
