import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openOutputFiles, shorten } from './output-files.ts'

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
