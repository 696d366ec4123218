import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BoundedOutput } from '../process/bounded-output.ts'
import { openOutputFiles, SHOWN_CHARS_MAX, shorten, shortenParts } from './output-files.ts'

const SECRET = 'correct-horse-battery-staple'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-outputs-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('no part of a secret stays where a text is cut because it is too long to be kept', async () => {
  const outputs = openOutputFiles(folder, [SECRET])
  // Whatever the place of the cut is, a secret lies across it.
  const whole = `${SECRET} `.repeat(200_000)
  const shown = await shorten(whole, outputs)
  const name = /path "(output:\w+)"/.exec(shown)?.[1] ?? ''
  const kept = `${shown}${await outputs.read(name)}`
  expect(kept).toContain('[redacted]')
  expect(kept).not.toMatch(/horse|battery|staple|correct/)
})

test('nor where the caller has cut it before', async () => {
  const outputs = openOutputFiles(folder, [SECRET])
  const bounded = new BoundedOutput(1_000_000)
  bounded.add(Buffer.from(`${SECRET} `.repeat(100_000)))
  const { bytes, droppedBytes } = bounded.take()
  const shown = await shorten(bytes.toString(), outputs, droppedBytes)
  const [, name = '', dropped] = /path "(output:\w+)" has all but (\d+)/.exec(shown) ?? []
  const kept = `${shown}${await outputs.read(name)}`
  expect(kept).toContain('[redacted]')
  expect(kept).toContain(`[${dropped} bytes left out]`)
  expect(kept).not.toMatch(/horse|battery|staple|correct/)
})

test.each([
  [SHOWN_CHARS_MAX, false],
  [SHOWN_CHARS_MAX + 1, true],
  [5_000_000, true],
])(
  'a text of %i characters is shown within the limit, with the mark of what was left out',
  async (chars, isCut) => {
    const outputs = openOutputFiles(folder)
    const shown = await shorten('x'.repeat(chars), outputs)
    expect(shown.length).toBeLessThanOrEqual(SHOWN_CHARS_MAX)
    expect(shown.includes('left out; read_file')).toBe(isCut)
  },
)

test('parts are shown within the limit, also where secrets were shorter than what stands for them', async () => {
  const outputs = openOutputFiles(folder, ['a-secret'])
  const text = 'a-secret '.repeat(100)
  const parts = Array.from({ length: 17 }, () => ({ text, charsMax: SHOWN_CHARS_MAX }))
  const shown = await shortenParts(parts, outputs)
  expect(shown.length).toBeLessThanOrEqual(SHOWN_CHARS_MAX)
  expect(shown).toContain('[redacted]')
})

/** Too long to be shown, and too long to be kept, with whatever there is before a pair. */
test.each([20_000, 20_001, 3_000_000, 3_000_001])(
  'no character is cut in two in a text of %i',
  async (chars) => {
    const outputs = openOutputFiles(folder)
    for (const before of ['', 'x']) {
      const text = `${before}${'😀'.repeat(chars / 2)}${'x'.repeat(chars % 2)}`
      const parts = [{ text, charsMax: 1_000 }]
      expect((await shorten(text, outputs)).isWellFormed()).toBe(true)
      expect((await shortenParts(parts, outputs)).isWellFormed()).toBe(true)
    }
  },
)
