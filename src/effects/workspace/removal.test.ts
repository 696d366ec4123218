import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeFolder } from './removal.ts'

let scratch: string

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'slipway-removal-'))
})

afterEach(() => rmSync(scratch, { recursive: true }))

/** A folder that is deeper than any path can say. */
function makeDeep(folder: string): void {
  const parts = Array(15).fill('d'.repeat(100))
  mkdirSync(join(folder, ...parts), { recursive: true })
  writeFileSync(join(folder, ...parts, 'file'), '')
  for (let i = 0; i < 4; i += 1) {
    const outer = `${folder}.outer`
    mkdirSync(join(outer, ...parts), { recursive: true })
    renameSync(folder, join(outer, ...parts, `level-${i}`))
    renameSync(outer, folder)
  }
}

test('a folder goes, however deep and however closed', async () => {
  const folder = join(scratch, 'doomed')
  mkdirSync(join(folder, 'a/shallow/one'), { recursive: true })
  makeDeep(join(folder, 'b'))
  makeDeep(join(folder, 'c'))
  mkdirSync(join(folder, 'closed/inner'), { recursive: true })
  writeFileSync(join(folder, 'closed/inner/file'), '')
  chmodSync(join(folder, 'closed/inner'), 0)
  chmodSync(join(folder, 'closed'), 0)
  await removeFolder(folder)
  expect(existsSync(folder)).toBe(false)
})

test('what is not there is gone', async () => {
  await removeFolder(join(scratch, 'nothing'))
})
