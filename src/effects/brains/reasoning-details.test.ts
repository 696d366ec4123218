import { expect, test } from 'vitest'
import { ReasoningDetails } from './reasoning-details.ts'

const CHARS_MAX = 1_048_576

/** A detail of so many characters. */
const detailOf = (chars: number) => {
  const empty = { type: 'reasoning.encrypted', data: '' }
  return { ...empty, data: 'x'.repeat(chars - JSON.stringify(empty).length) }
}

test.each([
  ['as long as they may be', CHARS_MAX, true],
  ['longer', CHARS_MAX + 1, false],
])('details that are %s', (_, chars, isKept) => {
  const details = new ReasoningDetails()
  const said = [detailOf(100), detailOf(chars - 100)]
  for (const one of said) details.take([one])
  expect(details.whole).toEqual(isKept ? said : undefined)
})
