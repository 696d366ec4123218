import { expect, test } from 'vitest'
import { readStrictJson } from './strict-json.ts'

test.each([
  ['{"a":1}', { a: 1 }],
  [' \n{"a":[1,{"b":2}]}\n', { a: [1, { b: 2 }] }],
  ['```json\n{"a":1}\n```', { a: 1 }],
  ['```\n{"a":"```"}\n```', { a: '```' }],
  ['\uFEFF{"a":1}', { a: 1 }],
  ['{"a":{"x":1},"b":{"x":1}}', { a: { x: 1 }, b: { x: 1 } }],
  ['{"a":"b\\":","c":"a"}', { a: 'b":', c: 'a' }],
])('%j is an object', (text, value) => {
  expect(readStrictJson(text)).toEqual(value)
})

test.each([
  [''],
  ['null'],
  ['[{"a":1}]'],
  ['"{}"'],
  ['{"a":1,}'],
  ["{'a':1}"],
  ['{"a":1} and more'],
  ['see {"a":1}'],
  ['{"a":1}{"a":1}'],
  ['```json\n{"a":1}\n```\nand more'],
  ['{"a":1,"a":2}'],
  ['{"a":1,"\\u0061":2}'],
  ['{"x":{"a":1,"b":[{"c":1,"c":1}]}}'],
  [`{"a":"${'x'.repeat(300_000)}"}`],
])('%.80j is none', (text) => {
  expect(readStrictJson(text)).toBeUndefined()
})
