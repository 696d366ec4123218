import { expect, test } from 'vitest'
import { answerTo, chooseQuestion, describeAnswer } from './question-choice.ts'
import type { QuestionView } from './view/run-view.ts'

const question = (id: string) => ({ id }) as QuestionView
const FIRST = question('greeter-a57e/architect-1:12.0')
const SECOND = question('greeter-a57e/story/hello:7.1')

test.each([
  [[FIRST, SECOND], [SECOND.id, 'no', 'rounding'], SECOND, 'no rounding'],
  [[FIRST], [FIRST.id, 'yes'], FIRST, 'yes'],
  [[FIRST], ['no', 'rounding'], FIRST, 'no rounding'],
  [[FIRST], ['src/main.ts:12.5 is', 'right'], FIRST, 'src/main.ts:12.5 is right'],
])('of %j, %j is for one', (open, words, expected, text) => {
  expect(chooseQuestion(open, words)).toEqual({ question: expected, text })
})

test.each([
  ['an answer that is late', [FIRST], [SECOND.id, 'retry'], /hello:7\.1 is not open any more/],
  ['one that is late, of many', [FIRST], [SECOND.id], /is not open any more/],
  ['one that is late, of none', [], [SECOND.id, 'retry'], /is not open any more/],
  ['nothing is asked', [], ['yes'], /Nothing is asked/],
  ['several are open', [FIRST, SECOND], ['yes'], /Say which question: .*:12\.0, .*:7\.1/],
  ['no words', [FIRST], [FIRST.id], /Say what the answer is/],
  ['blanks', [FIRST], [' '], /Say what the answer is/],
])('%s is refused', (_, open, words, message) => {
  expect(() => chooseQuestion(open, words)).toThrow(message)
})

const asked = (kind: string, ...choices: string[]) =>
  ({ kind, choices, wordsAs: '' }) as unknown as QuestionView
const PLAN = { ...asked('plan', 'approve', 'needs_changes', 'abandon'), wordsAs: 'needs_changes' }

test.each([
  [asked('plan', 'approve', 'needs_changes'), 'approve', 'approve', 'approve'],
  [
    asked('plan', 'approve', 'needs_changes'),
    'needs_changes: the names',
    'needs_changes',
    'the names',
  ],
  [PLAN, 'The names are wrong.', 'needs_changes', 'The names are wrong.'],
  [PLAN, 'needs_changes, the names', 'needs_changes', 'needs_changes, the names'],
  [asked('interview'), 'In shell.', '', 'In shell.'],
  [asked('question', 'one', 'two'), 'two: and round', 'two', 'and round'],
  [
    asked('question', 'yes', 'yes: with care'),
    'yes: with care',
    'yes: with care',
    'yes: with care',
  ],
  [
    asked('question', 'yes', 'yes: with care'),
    'yes: with care: slowly',
    'yes: with care',
    'slowly',
  ],
  [asked('question', 'yes', 'yes: with care'), 'yes: with joy', 'yes', 'with joy'],
  [asked('question', 'yes', 'Yes'), 'Yes', 'Yes', 'Yes'],
  [asked('plan', 'approve'), 'Approve', 'approve', 'approve'],
  [asked('plan', 'approve'), 'APPROVE: fine', 'approve', 'fine'],
  [asked('story', 'retry', 'rewrite'), 'rewrite: in awk', 'rewrite', 'in awk'],
])('to %j, %j is a choice and words', (question, said, choice, text) => {
  expect(answerTo(question, said)).toEqual({ choice, text })
})

test.each([
  ['once more', /one of retry, rewrite/],
  ['rewrite', /Say how/],
  ['rewrite: ', /Say how/],
])('about a story, %j does not do', (said, message) => {
  expect(() => answerTo(asked('story', 'retry', 'rewrite'), said)).toThrow(message)
})

test.each([
  ['approve, fine', /Is that approve\? .* "approve: …", or begin with "needs_changes:"/],
  ['approved', /Is that approve\?/],
  ['Approved.', /Is that approve\?/],
  ['approved, I think', /Is that approve\?/],
  ['Abandon it.', /Is that abandon\?/],
])('of a plan, %j is refused: nobody knows which way it is meant', (said, message) => {
  expect(() => answerTo(PLAN, said)).toThrow(message)
})

test('where words do nothing, a choice is asked for', () => {
  const spent = asked('budget_review', 'again', 'abandon')
  expect(() => answerTo(spent, 'approve')).toThrow(/one of again, abandon, as in: slipway answer a/)
})

test.each([
  [{ choice: 'approve', text: 'approve' }, 'Answered: approve.'],
  [{ choice: 'needs_changes', text: 'the names' }, 'Answered: needs_changes, with your words.'],
  [{ choice: '', text: 'In shell.' }, 'Answered with your words.'],
])('of %j it is said: %s', (answer, said) => {
  expect(describeAnswer(answer)).toBe(said)
})

test('an answer is taken up to its limit', () => {
  const question = asked('interview')
  expect(answerTo(question, 'x'.repeat(60_000)).text).toHaveLength(60_000)
  expect(() => answerTo(question, 'x'.repeat(60_001))).toThrow(/60001 characters; at most 60000/)
})
