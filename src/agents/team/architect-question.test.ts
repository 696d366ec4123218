import { expect, test } from 'vitest'
import type { Story } from '../../stories/story.ts'
import type { AgentId } from '../values.ts'
import { choicesOf, questionOf } from './architect-question.ts'
import { type Ask, DEFAULT_LIMITS, type RequestMessage, type TeamSettings } from './protocol.ts'

const STORY = { id: 'hello', title: 'Say hello' } as Story
const WHY = 'rejected: nothing is scripted for it'

function requestOf(ask: Ask): RequestMessage {
  const settings = { run: 'run', limits: DEFAULT_LIMITS } as TeamSettings
  return { id: 'q', from: 'run/coder-1' as AgentId, story: STORY, settings, ask }
}

const BUDGET: Extract<Ask, { kind: 'budget_review' }> = {
  kind: 'budget_review',
  state: 'FIXING',
  used: 'the tests fail in the same way again and again: nothing says how',
  grants: 0,
  history: '',
  decisions: 'continue, pivot, escalate, abandon',
  plan: 'None.',
  failures: 'nothing says how this repository is tested',
  diff: null,
}
const QUESTION: Ask = {
  kind: 'question',
  question: 'Comma or no comma?',
  tried: '',
  plan: '',
  spec: null,
}
const CODE = {
  kind: 'code',
  head: 'abc123',
  tests: '3 passed',
  note: '',
  earlier: '',
} as unknown as Ask
const PLAN: Ask = { kind: 'plan', plan: 'Write hello.sh.', round: 1, note: '', earlier: '' }

test.each([
  [QUESTION, 'A coder asks: Comma or no comma?'],
  [PLAN, 'Is this plan right for “Say hello”?\nWrite hello.sh.'],
  [CODE, 'Is the code of “Say hello” right?\nThe tests: 3 passed\nIt is the commit abc123'],
  [{ ...PLAN, earlier: 'Name the test.' }, 'Required before: Name the test.'],
  [BUDGET, 'go on? It stopped in FIXING: the tests fail in the same way'],
  [BUDGET, 'What fails: nothing says how this repository is tested'],
  [{ ...BUDGET, used: 'turns' }, 'It stopped in FIXING: its budget is spent (turns)'],
  [{ ...BUDGET, grants: 1 }, 'More turns were granted before: once.'],
  [{ ...BUDGET, grants: 2 }, 'More turns were granted before: 2 times.'],
] as const)('of %j a human is asked: %s', (ask, words) => {
  const question = questionOf(requestOf(ask), WHY)
  expect(question).toContain(words)
  expect(question.split('\n').at(-1)).toBe(`The architect could not decide it: ${WHY}`)
})

test('what no model was asked for has nobody who could not decide it', () => {
  expect(questionOf(requestOf(PLAN), null)).toBe(
    'Is this plan right for “Say hello”?\nWrite hello.sh.',
  )
})

test.each([
  [QUESTION, [], ['abandon']],
  [QUESTION, ['yes', 'no'], ['yes', 'no', 'abandon']],
  [PLAN, ['yes', 'no'], ['approve', 'needs_changes', 'abandon']],
  [BUDGET, [], ['approve', 'needs_changes', 'abandon']],
  // Whoever grants more than the limit would have the story given up.
  [{ ...BUDGET, grants: 2 }, [], ['needs_changes', 'abandon']],
  [{ ...BUDGET, grants: 2, decisions: 'continue, abandon' }, [], ['abandon']],
] as const)('to %j with the options %j the choices are %j', (ask, options, choices) => {
  expect(choicesOf(requestOf(ask), options, false).choices).toEqual(choices)
  const spent = choicesOf(requestOf(ask), options, true)
  expect(spent.choices).toEqual(['again', ...choices])
})

test('an option of a model is kept apart from a choice of ours', () => {
  const options = ['again', 'abandon', 'abandon', ' Abandon']
  const apart = ['abandon (as an answer)', 'Abandon (as an answer)']
  const asked = choicesOf(requestOf(QUESTION), options, false)
  expect(asked.choices).toEqual(['again', ...apart, 'abandon'])
  expect(asked.options).toEqual(['again', ...apart])
  const spent = choicesOf(requestOf(QUESTION), options, true)
  expect(spent.choices).toEqual(['again', 'again (as an answer)', ...apart, 'abandon'])
  expect(choicesOf(requestOf(PLAN), options, false).options).toEqual([])
})

test('every choice but those of a model says what comes of it', () => {
  for (const ask of [PLAN, CODE, BUDGET]) {
    const { choices, does } = choicesOf(requestOf(ask), [], true)
    expect(Object.keys(does)).toEqual(choices)
  }
  expect(Object.keys(choicesOf(requestOf(QUESTION), ['yes'], false).does)).toEqual(['abandon'])
})

const COUNTED = 'they count as needs_changes'

test.each([
  [QUESTION, 'the answer that the coder gets', ''],
  [PLAN, COUNTED, 'needs_changes'],
  [CODE, COUNTED, 'needs_changes'],
  [BUDGET, COUNTED, 'needs_changes'],
  // Nothing is left to say by words.
  [{ ...BUDGET, grants: 2, decisions: 'continue, abandon' }, '', ''],
] as const)('of words to %j it is said: %s', (ask, words, wordsAs) => {
  const asked = choicesOf(requestOf(ask), ['needs_changes'], false)
  expect(asked).toMatchObject({ words, wordsAs })
})
