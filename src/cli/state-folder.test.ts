import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findPlace } from './state-folder.ts'

test('a state folder is one and the same, by whatever link it is named', () => {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'slipway-place-')))
  mkdirSync(join(scratch, 'real'))
  symlinkSync('real', join(scratch, 'link'))
  const stateOf = (name: string) => findPlace({ state: join(scratch, name) }).stateFolder
  expect(stateOf('link/state')).toBe(join(scratch, 'real/state'))
  expect(stateOf('real/state')).toBe(stateOf('link/state'))
  rmSync(scratch, { recursive: true })
})
