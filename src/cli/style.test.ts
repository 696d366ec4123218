import { expect, test } from 'vitest'
import { styleFor } from './style.ts'

test.each([
  ['a terminal with colours', true, true, '\x1b[1mx\x1b[22m'],
  ['a terminal without colours, or with NO_COLOR', true, false, 'x'],
  ['a pipe or a file', false, true, 'x'],
])('on %s', (_, isTTY, colours, painted) => {
  expect(styleFor({ isTTY, hasColors: () => colours }).bold('x')).toBe(painted)
})
