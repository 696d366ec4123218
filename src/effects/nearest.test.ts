import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const KNOWN = ['dollars', 'tokens', 'iterations', 'hours']

test.each([
  ['dolars', 'dollars'],
  ['Tokens', 'tokens'],
  ['huors', 'hours'],
  ['itterationss', 'iterations'],
  ['minutes', undefined],
  ['x', undefined],
  ['', undefined],
])('%j was meant as %j', (word, meant) => {
  expect(nearest(word, KNOWN)).toBe(meant)
})

test('a word without end costs no more than another', () => {
  expect(nearest('x'.repeat(1_000_000), KNOWN)).toBeUndefined()
})
