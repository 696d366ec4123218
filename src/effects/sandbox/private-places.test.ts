import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findPrivate } from './private-places.ts'

let scratch: string
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'slipway-private-'))
  const entries = {
    'open/': 0o755,
    'open/deep/': 0o755,
    'closed/': 0o700,
    'listed/': 0o751,
    'closed/key': 0o600,
    'open/key': 0o600,
    'open/group': 0o640,
    'open/text': 0o644,
    'open/program': 0o700,
    'open/deep/key': 0o400,
  }
  for (const [name, mode] of Object.entries(entries)) {
    const path = join(scratch, name)
    if (name.endsWith('/')) mkdirSync(path)
    else writeFileSync(path, '')
    chmodSync(path, mode)
  }
  symlinkSync('closed', join(scratch, 'link'))
})
afterAll(() => rmSync(scratch, { recursive: true }))

const find = (entriesMax = Infinity, sparesPrograms = false) => {
  const below = [scratch, join(scratch, 'no-such-folder')]
  const { folders, files } = findPrivate({ below, entriesMax, sparesPrograms })
  const toNames = (paths: readonly string[]) =>
    paths.map((path) => path.slice(scratch.length + 1)).sort()
  return { folders: toNames(folders), files: toNames(files) }
}

test('what not everybody may read is found, and nothing below it', () => {
  expect(find()).toEqual({
    folders: ['closed', 'listed'],
    files: ['open/deep/key', 'open/group', 'open/key', 'open/program'],
  })
})

test('programs are spared where that is wanted', () => {
  expect(find(Infinity, true).files).toEqual(['open/deep/key', 'open/group', 'open/key'])
})

test('what is nearest is found first, and the search ends', () => {
  expect(find(9)).toEqual({
    folders: ['closed', 'listed'],
    files: ['open/group', 'open/key', 'open/program'],
  })
})
