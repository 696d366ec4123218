import { expect, test } from 'vitest'
import { jsonText } from './json-text.ts'

test.each(['\x1b]52;c;aGk=\x07', '\x9b31m', 'a\u202eb', '\u{e0041}', 'two\nlines', '日本 → "x"'])(
  '%j is the same value, and steers nothing',
  (value) => {
    const text = jsonText({ value })
    expect(JSON.parse(text)).toEqual({ value })
    expect(text).not.toMatch(/[^\P{C}\n]/u)
  },
)
