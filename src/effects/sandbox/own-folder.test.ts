import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
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

test('a start removes nothing that another user has put there under such a name', async () => {
  const temporary = join(scratch, 'tmp')
  const elsewhere = join(scratch, 'elsewhere')
  for (const folder of [temporary, elsewhere]) mkdirSync(folder)
  vi.stubEnv('TMPDIR', temporary)
  const state = join(scratch, 'x'.repeat(100))
  const ours = await makeSocketFolder(await prepareOwnFolder(state))
  const [link, folder] = ['0', '1'].map((digit) => ours.replace(PROCESS_NAME, digit.repeat(12)))
  symlinkSync(elsewhere, link as string)
  await prepareOwnFolder(state)
  expect(existsSync(link as string)).toBe(true)
  mkdirSync(folder as string)
  const another = vi.spyOn(process, 'getuid').mockReturnValue(Number(process.getuid?.()) + 1)
  await prepareOwnFolder(state)
  expect(existsSync(folder as string)).toBe(true)
  another.mockRestore()
})
