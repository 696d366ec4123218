import { expect, test } from 'vitest'
import { readTokens } from './token-count.ts'

test.each([0, 1, 200_000, 1_000_000_000])('%d is a count', (value) => {
  expect(readTokens(value)).toBe(value)
})

test.each([
  -1,
  1.5,
  1_000_000_001,
  2 ** 53,
  2 ** 64,
  Number.POSITIVE_INFINITY,
  Number.NaN,
  '12',
  null,
  undefined,
])('%s is none', (value) => {
  expect(readTokens(value)).toBeNull()
})
