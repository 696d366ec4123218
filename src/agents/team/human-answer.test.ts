import { expect, test } from 'vitest'
import { readAnswer } from './human-answer.ts'

const OPTIONS = ['one place', 'two places', 'again']

test.each([
  [{ choice: 'approve', text: 'approve' }, 'approve', 'approve'],
  [{ choice: 'needs_changes', text: 'the names' }, 'needs_changes', 'the names'],
  [{ choice: '', text: 'Three places.' }, '', 'Three places.'],
  [{ choice: 'two places', text: 'two places' }, '', 'two places'],
  [{ choice: 'two places' }, '', 'two places'],
  [{ choice: 'two places', text: 'and round half up' }, '', 'two places: and round half up'],
  // It is called as a choice of ours, and is not that one.
  [{ choice: 'again', text: 'again' }, '', 'again'],
  [{ choice: 'abandon', text: '' }, 'abandon', 'abandon'],
])('%j is the choice %j with the words %j', (value, choice, words) => {
  expect(readAnswer({ ok: true, value }, OPTIONS)).toEqual({ choice, words })
})
