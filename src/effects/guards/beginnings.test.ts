import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reversed, walkBeginnings } from './beginnings.ts'
import { findMasked } from './masked-secrets.ts'
import { REDACTED, redact } from './redaction.ts'

const few = (constraints: { minLength?: number; maxLength: number }) =>
  fc.string({ ...constraints, unit: fc.constantFrom('a', 'b') })

test('the longest beginning before each place is told, but not the whole', () => {
  fc.assert(
    fc.property(few({ maxLength: 40 }), few({ minLength: 1, maxLength: 8 }), (text, value) => {
      const told = new Map<number, number>()
      walkBeginnings(text, value, (chars, end) => told.set(end, chars))
      for (let end = 0; end <= text.length; end += 1) {
        let chars = Math.min(value.length - 1, end)
        while (!text.endsWith(value.slice(0, chars), end)) chars -= 1
        expect(told.get(end) ?? 0).toBe(chars)
      }
    }),
  )
})

test('a text is turned around by its code units', () => {
  expect(reversed('ab🔑')).toBe(`${'🔑'[1]}${'🔑'[0]}ba`)
})

/** As long as a value in a repository's `.mcp.json` may be, and alike at every place. */
const LONG = [`${'a'.repeat(8_000)}b`, `b${'a'.repeat(8_000)}`]
const MIDDLE = ['b', 'c', 'd', 'e', 'f'].map((char) => 'a'.repeat(4_000) + char + 'a'.repeat(4_000))

function times(count: number, work: () => void): void {
  for (let i = 0; i < count; i += 1) work()
}

test.each([
  ['around a mask', (text: string) => findMasked(`${text}..${text}`, LONG)],
  ['as a whole', (text: string) => redact(text.repeat(5), MIDDLE)],
  ['at the ends', (text: string) => times(200, () => redact(text.slice(0, 10_000), LONG))],
])('a value that is everywhere is looked for %s in a short time', (_, look) => {
  const text = 'a'.repeat(200_000)
  const startedMs = performance.now()
  look(text)
  // Less than 1 s by itself; to begin anew at every place takes a minute.
  expect(performance.now() - startedMs).toBeLessThan(5_000)
})

test('a long value is taken out wherever it is, and nothing else', () => {
  for (const value of [...LONG, ...MIDDLE, 'a'.repeat(300), 'ab'.repeat(200)]) {
    const text = `x${value}${value}y${value.slice(1)}z${value}-`
    const shown = `x${REDACTED}y${value.slice(1)}z${REDACTED}-`
    expect(redact(text, [value])).toBe(shown)
  }
})
