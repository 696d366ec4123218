import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ReadFile, readConfigFile } from './config-file.ts'
import { distrustFile, isTrusted, trustFile } from './trust-file.ts'

let folder: string
let environment: { XDG_STATE_HOME: string }
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-trust-'))
  environment = { XDG_STATE_HOME: join(folder, 'state') }
  path = join(folder, 'state/slipway/trust.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

async function write(name: string, text: string): Promise<ReadFile> {
  writeFileSync(join(folder, name), text)
  return readConfigFile(join(folder, name), name, 'repository')
}

test('a file is trusted as it is, where it is, until it changes or the user says no', async () => {
  const file = await write('a.yaml', 'target: one')
  expect(await isTrusted(file, environment)).toBe(false)
  await trustFile(file, environment)
  expect(await isTrusted(file, environment)).toBe(true)
  expect(await isTrusted(await write('b.yaml', 'target: one'), environment)).toBe(false)
  expect(await isTrusted(await write('a.yaml', 'target: two'), environment)).toBe(false)
  const again = await write('a.yaml', 'target: one')
  expect(await isTrusted(again, environment)).toBe(true)
  await distrustFile(again, environment)
  expect(await isTrusted(again, environment)).toBe(false)
})

test('it is for its owner alone', async () => {
  await trustFile(await write('a.yaml', ''), environment)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'state/slipway')).mode & 0o777).toBe(0o700)
})

test.each([
  ['is damaged', () => writeFileSync(path, '{')],
  ['others may write', () => chmodSync(path, 0o622)],
  [
    'is of a later version',
    () => writeFileSync(path, readFileSync(path, 'utf8').replace('1', '2')),
  ],
])('a trust file that %s trusts nothing', async (_, spoil) => {
  const file = await write('a.yaml', '')
  await trustFile(file, environment)
  spoil()
  expect(await isTrusted(file, environment)).toBe(false)
})

test('at the limit the oldest is forgotten', async () => {
  const file = await write('a.yaml', '')
  await trustFile(file, environment)
  const files = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, i) => [`/old/${i}`, 'a'.repeat(64)]),
  )
  writeFileSync(path, JSON.stringify({ version: 1, files }))
  await trustFile(file, environment)
  const kept = Object.keys(JSON.parse(readFileSync(path, 'utf8')).files)
  expect(kept).toHaveLength(1_000)
  expect(kept[0]).toBe('/old/1')
  expect(await isTrusted(file, environment)).toBe(true)
})
