import { expect, test } from 'vitest'
import { nameAfter, titleOf } from './run-name.ts'

test.each([
  ['A greeter, that says: hello there', 'a-greeter-that-says'],
  ['', 'run'],
  ['問候', 'run'],
  ['x'.repeat(41), 'x'.repeat(40)],
])('%j is named after its words', (text, name) => {
  expect(nameAfter(text, 'run')).toMatch(new RegExp(`^${name}-[0-9a-f]{4}$`))
})

test('a name has nothing of a secret', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`
  expect(nameAfter(`Use ${token} for pushing`, 'task')).toMatch(/^use-redacted-for-pushing-/)
})

test.each([
  ['# Greeter\n\nSay hello.', 'Greeter'],
  ['Say hello.\n\n## Then\n', 'Then'],
  ['Say hello.', ''],
])('the title of %j', (document, title) => {
  expect(titleOf(document)).toBe(title)
})
