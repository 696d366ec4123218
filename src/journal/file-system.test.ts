import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeStateFolder, toStateFolderError } from './file-system.ts'

let scratch: string

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'slipway-folder-'))
})

afterEach(() => rmSync(scratch, { recursive: true, force: true }))

test('a state folder is made with what leads to it, for its owner alone', () => {
  const folder = join(scratch, 'a', 'b')
  makeStateFolder(folder)
  makeStateFolder(folder)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

test('a file in its place, or on the way to it, is an error that says what to do', () => {
  const file = join(scratch, 'file')
  writeFileSync(file, '')
  for (const folder of [file, join(file, 'state')]) {
    expect(() => makeStateFolder(folder)).toThrow(/cannot be made \(E\w+\)\. Choose a folder/)
  }
})

test.runIf(process.platform === 'linux')('a place that takes no folders is an error too', () => {
  expect(() => makeStateFolder('/proc/state/x')).toThrow(/cannot be made \(ENOENT\)/)
})

test.each([
  [{ code: 'ENOSPC', message: 'write' }, /the disk is full; free some space/],
  [{ code: 'EDQUOT', message: 'write' }, /the disk is full; free some space/],
  [{ name: 'GitError', message: 'git init: No space left on device' }, /the disk is full/],
  [{ code: 'EROFS', message: 'open' }, /^\/s is read-only \(EROFS\)\. Make it writable/],
  [{ code: 'EISDIR', message: 'is a folder' }, /^is a folder$/],
])('%j is said in words that tell what to do', (fault, words) => {
  expect(toStateFolderError(fault, '/s')).toMatchObject({ message: expect.stringMatching(words) })
})
