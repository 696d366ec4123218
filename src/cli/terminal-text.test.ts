import { expect, test } from 'vitest'
import {
  cut,
  indentedProseFor,
  longestPiece,
  padTo,
  proseFor,
  widthOf,
  wrap,
  wrapShort,
} from './terminal-text.ts'

test.each([
  ['plain', 5],
  ['日本語', 6],
  ['ｱｲｳ', 3],
  ['한국어', 6],
  ['e\u0301te\u0301', 3],
  ['🚢', 2],
  ['👩\u200d👩\u200d👧', 2],
  ['👍🏽', 2],
  ['🇮🇹', 2],
  ['●○✔█░…', 6],
  ['\x1b[31mred\x1b[39m', 3],
])('%j takes %d columns', (text, columns) => {
  expect(widthOf(text)).toBe(columns)
  expect(padTo(text, 8).length - text.length).toBe(8 - columns)
})

test.each([
  ['plain', 5, 'plain'],
  ['plain', 4, 'pla…'],
  ['日本語', 6, '日本語'],
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日…'],
  ['a👩\u200d👩\u200d👧b', 3, 'a…'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ['\x1b[31m日本\x1b[39m語', 5, '\x1b[31m日本\x1b[39m…'],
  ['\x1b[31m日本\x1b[39m語', 4, '\x1b[31m日…\x1b[39m'],
])('%j in %d columns is %j', (text, columns, short) => {
  expect(cut(text, columns)).toBe(short)
})

test('text without spaces is broken between signs, but not before those that end something', () => {
  expect(wrap('日本語のテスト。次の行', 8)).toEqual(['日本語の', 'テスト。', '次の行'])
  expect(wrap('「日本」のデータ', 6)).toEqual(['「日', '本」の', 'データ'])
  expect(longestPiece('日本 words 語')).toBe(5)
})

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
  ['one seventy two', 2, ['one', 'sevent…']],
  ['one 日本語', 1, ['one …']],
  ['日本語日本語日本語', 2, ['日本語', '日本 …']],
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

test('words that are indented are broken where they are no commands, and stay indented', () => {
  const text = '? Which one of them?\n  this: it is the one\n  that: the other\n'
  expect(indentedProseFor({ isTTY: true, columns: 14 }, text)).toBe(
    '? Which one of\nthem?\n  this: it is\n  the one\n  that: the\n  other\n',
  )
  expect(indentedProseFor({ isTTY: false, columns: 14 }, text)).toBe(text)
})
