import { expect, test } from 'vitest'
import { PlainErrorReader } from './plain-error.ts'

const BYTES_MAX = 65_536

/** An error of so many bytes. */
const errorOf = (bytes: number) => {
  const empty = JSON.stringify({ error: '' })
  return Buffer.from(JSON.stringify({ error: 'x'.repeat(bytes - empty.length) }))
}

test.each([
  ['as long as one may be', BYTES_MAX, true],
  ['longer than any', BYTES_MAX + 1, false],
])('an error that is %s', (_, bytes, isHeard) => {
  const reader = new PlainErrorReader()
  const body = errorOf(bytes)
  reader.take(body.subarray(0, 100))
  reader.take(body.subarray(100))
  expect(reader.end()).toBe(isHeard ? body.toString() : undefined)
})
