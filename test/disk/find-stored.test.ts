import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openBlobFiles } from '../../src/journal/blob-files.ts'
import { findStored } from './find-stored.ts'
import { makeFolder, openState } from './state.ts'

const TEXT = 'correct-horse-battery-staple'

let folder: string
let remove: () => void

beforeEach(() => {
  ;({ folder, remove } = makeFolder())
})

afterEach(() => remove())

test('a text is found in a blob, which does not show it', async () => {
  const blobs = openBlobFiles(join(folder, 'blobs'))
  const around = 'a longer text '.repeat(100)
  const { sha256 } = await blobs.put(`${around}${TEXT}${around}`)
  await blobs.put(around)
  expect(findStored(folder, TEXT)).toEqual([
    join('blobs', sha256.slice(0, 2), `${sha256.slice(2)}.z`),
  ])
})

test('a text is found in the journal', async () => {
  const state = await openState(folder)
  await state.note('e1', { text: TEXT })
  await state.close()
  expect(findStored(folder, TEXT).length).toBeGreaterThan(0)
  expect(findStored(folder, `${TEXT}s`)).toEqual([])
})

test('a text is found in any other file, in whatever folder', () => {
  mkdirSync(join(folder, 'outputs', '.hidden'), { recursive: true })
  writeFileSync(join(folder, 'outputs', '.hidden', 'log'), `\0\xff${TEXT}`)
  expect(findStored(folder, TEXT)).toEqual([join('outputs', '.hidden', 'log')])
})
