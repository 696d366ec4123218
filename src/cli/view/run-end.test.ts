import { expect, test } from 'vitest'
import { NO_AMOUNTS } from '../../ledger/amounts.ts'
import type { Exhausted } from '../../ledger/limits.ts'
import { budgetHint, exitCodeOf, failureReason, isRunOver, unpricedNote } from './run-end.ts'
import type { QuestionView, RunView } from './run-view.ts'

const view = (given: Partial<RunView>): RunView => ({
  run: 'r',
  target: 'main',
  isolation: 'bubblewrap',
  status: 'running',
  task: null,
  stories: [],
  agents: [],
  questions: [],
  spent: NO_AMOUNTS,
  budget: { limits: null, isSpent: false, startedMs: null },
  unpriced: [],
  failure: null,
  isUnshown: false,
  startedMs: 0,
  endedMs: null,
  ...given,
})
const question = (cause: Exhausted | null): QuestionView => ({
  id: 'q',
  from: 'architect-1',
  about: 'a',
  kind: 'story',
  question: '?',
  choices: [],
  does: {},
  words: '',
  wordsAs: '',
  cause,
  askedMs: 0,
})
const MONEY: Exhausted = { scope: 'run', what: 'money', limit: 5_000_000, wanted: 5_100_000 }
const SPENT = { limits: null, isSpent: true, startedMs: null }

test.each([
  ['done', { status: 'done' }, 0],
  ['failed', { status: 'failed' }, 1],
  ['a question', { status: 'waiting', questions: [question(null)] }, 3],
  ['a question for want of money', { status: 'waiting', questions: [question(MONEY)] }, 4],
  ['another one too', { status: 'waiting', questions: [question(MONEY), question(null)] }, 3],
  ['the run has spent it', { status: 'waiting', questions: [question(null)], budget: SPENT }, 4],
  ['failed for want of money', { status: 'failed', budget: SPENT }, 4],
  ['an outage', { status: 'failed', failure: { reason: 'out', isOutage: true } }, 5],
  ['a spec given up', { status: 'failed', failure: { reason: 'no', isOutage: false } }, 1],
  ['stopped', { status: 'stopped' }, 130],
] as const)('%s', (_, given, exitCode) => {
  expect(exitCodeOf(view(given))).toBe(exitCode)
})

test.each([
  [MONEY, '--dollars 10'],
  [{ ...MONEY, scope: 'story', limit: 200_000 }, '--story-dollars 1'],
  [{ ...MONEY, what: 'tokens', limit: 1_000 }, '--tokens 2000'],
  [{ ...MONEY, what: 'iterations', limit: 3, scope: 'story' }, '--story-iterations 6'],
  [{ ...MONEY, what: 'time', limit: 3_600_000 }, '--hours 2'],
  [{ ...MONEY, what: 'unpriced', limit: 0 }, '--allow-unpriced'],
] as const)('%j is raised by %s', (cause, option) => {
  const hint = budgetHint(view({ questions: [question(cause)] }))
  expect(hint).toContain(`slipway budget r ${option}`)
})

test('a model without a price is no budget that is spent', () => {
  const hint = budgetHint(view({ questions: [question({ ...MONEY, what: 'unpriced', limit: 0 })] }))
  expect(hint).toMatch(/^Dollars of the run are limited, and nobody knows the price of a model\./)
})

test('what is known is not mentioned', () => {
  expect(budgetHint(view({ questions: [question(null)] }))).toBeUndefined()
  expect(budgetHint(view({ budget: SPENT }))).toContain('slipway budget r')
  expect(unpricedNote(view({}))).toBeUndefined()
  expect(unpricedNote(view({ unpriced: ['coder'] }))).toContain('model of coder')
})

test.each([
  [true, 'count as tokens'],
  [false, 'slipway budget r --allow-unpriced'],
])('a model without a price, allowed: %s', (allowUnpriced, said) => {
  const limits = { run: { microdollarsMax: 1 }, story: {}, allowUnpriced }
  const budget = { limits, isSpent: false, startedMs: null }
  expect(unpricedNote(view({ unpriced: ['coder'], budget }))).toContain(said)
})

const HALTED = { id: 'architect-1', isHalted: true } as RunView['agents'][number]
const GIVEN_UP = { reason: 'no key\n\x1b[2J', isOutage: false }

test.each([
  [{ status: 'done' }, true, undefined],
  [{ status: 'running' }, false, undefined],
  [{ status: 'paused', failure: GIVEN_UP }, false, undefined],
  [{ status: 'failed', failure: GIVEN_UP }, true, 'of the spec: no key \\u{1b}[2J.'],
  [{ status: 'failed', isUnshown: true }, true, 'not every criterion is shown'],
  [{ status: 'failed', agents: [HALTED] }, false, 'halted: architect-1.'],
  [{ status: 'failed' }, true, 'slipway logs r'],
] as const)('%j: that it is over is %s, because of %s', (given, isOver, reason) => {
  expect(isRunOver(view(given))).toBe(isOver)
  if (reason === undefined) expect(failureReason(view(given))).toBeUndefined()
  else expect(failureReason(view(given))).toContain(reason)
})
