import { expect, test } from 'vitest'
import { printable } from './printable.ts'

test.each([
  ['plain text, ünïcödé and 日本 →', 'plain text, ünïcödé and 日本 →'],
  ['two\nlines', 'two\nlines'],
  ['\x1b]52;c;aGk=\x07', '\\u{1b}]52;c;aGk=\\u{7}'],
  ['\x9b31m', '\\u{9b}31m'],
  ['a\u202eb', 'a\\u{202e}b'],
  ['a\rb\tc\0', 'a\\u{d}b\\u{9}c\\u{0}'],
])('%j is printed as %j', (text, printed) => {
  expect(printable(text)).toBe(printed)
})
