import { expect, test } from 'vitest'
import { proseFor, wrap, wrapShort } from './wrap.ts'

test('text is broken at spaces, and no word is', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
  expect(wrap('a-long-word and more', 5)).toEqual(['a-long-word', 'and', 'more'])
})

test('styles do not count as width', () => {
  expect(wrap('\x1b[1mone\x1b[22m two three', 7)).toEqual(['\x1b[1mone\x1b[22m two', 'three'])
})

test.each([
  ['one two', 1, ['one two']],
  ['one two three', 1, ['one …']],
  ['one two three', 2, ['one two', 'three']],
  ['one two three four', 2, ['one two', 'three …']],
  ['one seventy two', 2, ['one', '…']],
])('%j in lines of 7, at most %d', (text, linesMax, lines) => {
  expect(wrapShort(text, 7, linesMax)).toEqual(lines)
})

test('prose is broken for a terminal alone, and what is indented can be copied whole', () => {
  const text = 'Type this into it:\n  cd somewhere && do something\n\nAnd wait.\n'
  const terminal = { isTTY: true, columns: 12 }
  expect(proseFor(terminal, text)).toBe(
    'Type this\ninto it:\n  cd somewhere && do something\n\nAnd wait.\n',
  )
  expect(proseFor({ isTTY: false, columns: 12 }, text)).toBe(text)
  // A terminal that does not tell its size.
  expect(proseFor({ isTTY: true, columns: 0 }, text)).toBe(text)
})
