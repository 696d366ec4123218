import { expect, test } from 'vitest'
import type { AgentId } from '../agents/values.ts'
import { checkDecision, DECISION_CHARS_MAX, requireJson, requireStorable } from './decision.ts'

test.each([null, true, 0, -1.5, '', 'ünï', [], {}, [1, [2, { a: null }]], { a: { b: ['c'] } }])(
  '%j is JSON',
  (value) => {
    expect(() => requireJson(value, 'x')).not.toThrow()
  },
)

test.each([
  undefined,
  Number.NaN,
  Infinity,
  1n,
  Symbol('s'),
  () => 1,
  [undefined],
  { a: Number.NaN },
])('%s is not', (value) => {
  expect(() => requireJson(value, 'x')).toThrow(TypeError)
})

test('a decision is bounded: at the limit it passes, one character more does not', () => {
  // An object costs two characters and its key one.
  const of = (chars: number) => ({ set: { x: 'y'.repeat(chars - 3) } })
  expect(() => checkDecision(of(DECISION_CHARS_MAX))).not.toThrow()
  expect(() => checkDecision(of(DECISION_CHARS_MAX + 1))).toThrow(/put what is large into a blob/)
})

test.each(['a\ud800', '\udc00', '\udc00\ud800', 'a\0b'])('%j names nothing', (name) => {
  expect(() => requireStorable(name, 'the run')).toThrow(/^the run ".*" holds half a character/)
  for (const decision of [
    { send: [{ to: 'a' as AgentId, type: name, payload: null }] },
    { effects: [{ kind: name, input: null }] },
    { timers: { [name]: 1 } },
  ]) {
    expect(() => checkDecision(decision)).toThrow(TypeError)
  }
  // JSON escapes it.
  expect(() => checkDecision({ set: { [name]: name } })).not.toThrow()
})

test('whole characters of any kind are names', () => {
  for (const name of ['', 'ünï', '\u{1f600}', '\uffff', '\ufffd', 'a b\n'])
    requireStorable(name, 'x')
})
