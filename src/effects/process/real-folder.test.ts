import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { realFolder } from './real-folder.ts'

let scratch: string
beforeAll(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'slipway-real-')))
  mkdirSync(join(scratch, 'real/state'), { recursive: true })
  symlinkSync('real', join(scratch, 'link'))
})
afterAll(() => rmSync(scratch, { recursive: true }))

test.each([
  ['real/state', 'real/state'],
  ['link/state', 'real/state'],
  ['link/', 'real'],
  ['real/../link/./state/', 'real/state'],
  ['link/not/there/yet', 'real/not/there/yet'],
])('%s is %s', (named, real) => {
  expect(realFolder(`${scratch}/${named}`)).toBe(join(scratch, real))
})

test('a relative path is one of the folder that we are in', () => {
  expect(realFolder('.')).toBe(realpathSync(process.cwd()))
})
