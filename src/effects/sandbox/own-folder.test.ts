import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PROCESS_NAME, prepareOwnFolder } from './own-folder.ts'
import { makeSocketFolder } from './way-out.ts'

let scratch: string
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'slipway-own-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(scratch, { recursive: true })
})

test('a start removes what a killed process has left, also where paths are short', async () => {
  const temporary = join(scratch, 'tmp')
  mkdirSync(temporary)
  vi.stubEnv('TMPDIR', temporary)
  const state = join(scratch, 'x'.repeat(100))
  const [here, others] = [await prepareOwnFolder(state), await prepareOwnFolder(`${state}-other`)]
  const ours = await makeSocketFolder(here)
  expect(ours.startsWith(temporary)).toBe(true)
  const nameOfDead = (folder: string) => basename(folder).replace(PROCESS_NAME, '0'.repeat(12))
  const left = [join(temporary, nameOfDead(ours)), join(here, `home-${'0'.repeat(12)}-abc`)]
  const foreign = join(temporary, nameOfDead(await makeSocketFolder(others)))
  for (const folder of [...left, foreign]) mkdirSync(folder)
  await prepareOwnFolder(state)
  expect(left.filter(existsSync)).toEqual([])
  expect(existsSync(ours)).toBe(true)
  expect(existsSync(foreign)).toBe(true)
  expect(readdirSync(here)).toEqual([])
})
