import { expect, test } from 'vitest'
import { parseCommented } from './commented-json.ts'

test('comments and last commas are passed over, and what looks like them in a text is not', () => {
  const text = `{ // one, }
    "a//b": "/* c */ ,] \\" // d", /* two
    lines */ "e": [1, 2, ], }`
  expect(parseCommented(text)).toEqual({ 'a//b': '/* c */ ,] " // d', e: [1, 2] })
})

test.each(['', '{', '{ "a": 1 /* }'])('what is none is undefined: %j', (text) => {
  expect(parseCommented(text)).toBeUndefined()
})
