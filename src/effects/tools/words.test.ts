import { expect, test } from 'vitest'
import { words } from './words.ts'

test.each([
  ['with spaces around it', '  a plan \n', true],
  ['as long as it may be', 'x'.repeat(10), true],
  ['one character longer', 'x'.repeat(11), false],
  ['nothing', '', false],
  ['only spaces', ' \n\t', false],
  ['lines and tabs', 'a\n\tb\r\nc', true],
  ['a NUL', 'a\0b', false],
  ['an escape', 'a\x1b[2J', false],
  ['a line that is written over', 'a\rb', false],
  ['a control character of the upper half', 'a\x9bb', false],
])('%s is taken as it is, or refused', (_, text, isTaken) => {
  const read = words(10).safeParse(text)
  expect(read.success).toBe(isTaken)
  if (isTaken) expect(read.data).toBe(text)
})
