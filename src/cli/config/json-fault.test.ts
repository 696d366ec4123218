import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findJsonFault } from './json-fault.ts'

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('a fault has its place:', () => {
  test.each([
    ['', 0, 'a value is expected'],
    ['a: 1', 0, 'a value is expected'],
    ['{"a": 1,}', 7, 'a comma before } is one too many'],
    ['[1, 2,\n]', 5, 'a comma before ] is one too many'],
    ["{'a': 1}", 1, 'a key in double quotes is expected'],
    ['{"a" 1}', 5, 'a colon is expected'],
    ['{"a": 1 "b": 2}', 8, 'a comma or } is expected'],
    ['{"a": x}', 6, 'a value is expected'],
    ['{"a": 01}', 6, 'a value is expected'],
    ['{"a": 1', 7, 'a comma or } is expected'],
    ['{"a": "b\n"}', 6, 'the text has no closing double quote'],
    ['{"a": "\\x"}', 7, 'a backslash begins nothing known'],
    ['{"a": "\t"}', 7, 'a control character has to be written as \\u and four digits'],
    ['{}\n// end', 3, 'JSON has no comments'],
    ['{} {}', 3, 'nothing may follow the end'],
    ['['.repeat(100_000), 65, 'it is nested too deeply'],
  ])('%.20j', (text, offset, message) => {
    expect(findJsonFault(text)).toMatchObject({ offset, message })
  })
})

test('it agrees with the engine about what is JSON', () => {
  const character = fc.constantFrom(...'{}[]",:\\ \n\tu01.-+eEntrufalse/#*a\u2028')
  const damaged = fc
    .tuple(fc.json(), fc.nat(), fc.nat({ max: 2 }), fc.array(character, { maxLength: 3 }))
    .map(([json, at, gone, put]) => {
      const from = at % (json.length + 1)
      return json.slice(0, from) + put.join('') + json.slice(from + gone)
    })
  const texts = fc.oneof(fc.json(), damaged, fc.string({ unit: character }))
  fc.assert(
    fc.property(texts, (text) => {
      expect(findJsonFault(text) === undefined).toBe(isJson(text))
    }),
    { numRuns: 3_000 },
  )
})
