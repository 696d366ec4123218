import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainText, tailOf } from './plain-text.ts'

const plain = (text: string) => plainText(Buffer.from(text))

test.each([
  ['colours', '\x1b[31mred\x1b[0m \x1b[38;5;246mgrey\x1b[m', 'red grey'],
  ['cursor moves', '\x1b[2K\x1b[1Gdone\x1b[?25h', 'done'],
  ['titles and links', '\x1b]0;title\x07a\x1b]8;;https://e.test\x1b\\link\x1b]8;;\x1b\\', 'alink'],
  ['device strings', 'a\x1bPq#0;2\x1b\\b', 'ab'],
  ['a sequence without an end', 'kept\x1b]0;the rest is its text', 'kept'],
  ['carriage returns', '10%\r50%\r\n100%\r', '10%\n50%\n100%\n'],
  ['control characters', 'a\x00b\x08c\td\x7fe\u009b31mf', 'abc\tde31mf'],
  ['other writing', 'ünï 日本 🙂\n', 'ünï 日本 🙂\n'],
])('%s', (_, printed, expected) => {
  expect(plain(printed)).toBe(expected)
})

test('bytes that are no text become text that is', () => {
  expect(plainText(Uint8Array.from([0x61, 0xff, 0xfe, 0x62]))).toBe('a\ufffd\ufffdb')
})

test('a view of a larger buffer is no more than itself', () => {
  expect(plainText(Buffer.from('-inside-').subarray(1, 7))).toBe('inside')
})

test('no output has escapes or control characters left', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(plainText(bytes)).not.toMatch(/[^\P{Cc}\n\t]/u)
    }),
  )
})

describe('the tail of a text', () => {
  test.each([
    ['that fits is all of it', 'one\ntwo\n', 8, 'one\ntwo\n'],
    ['starts at a whole line', 'one\ntwo\nthree\n', 9, 'three\n'],
    ['without line breaks starts anywhere', 'abcdef', 3, 'def'],
    ['does not start inside a character', 'é日🙂x', 6, '🙂x'],
    ['of nothing is nothing', 'abc', 0, ''],
  ])('%s', (_, text, bytesMax, expected) => {
    expect(tailOf(text, bytesMax)).toBe(expected)
  })

  test('is never longer than asked, and always an end of the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, bytesMax) => {
        const tail = tailOf(text, bytesMax)
        expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(bytesMax)
        expect(text.endsWith(tail)).toBe(true)
      }),
    )
  })
})
