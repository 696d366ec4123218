import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPullRequestRecords, type PullRequestRecord } from './pull-request-records.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-records-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

const record = (number: number, changes: Partial<PullRequestRecord> = {}): PullRequestRecord => ({
  number,
  branch: 'slipway/r1/s1',
  target: 'main',
  head: 'a'.repeat(40),
  title: 'A story',
  body: 'Line\n"quoted" \u2028 😀',
  state: 'open',
  mergeCommit: null,
  reviews: [{ commit: 'a'.repeat(40), verdict: 'approved', body: 'Fine.' }],
  ...changes,
})

test('records are the same when they are opened again', async () => {
  const records = await openPullRequestRecords(folder)
  expect(records.nextNumber()).toBe(1)
  await records.write(record(1))
  await records.write(record(10))
  await records.write(record(1, { state: 'merged', mergeCommit: 'b'.repeat(40) }))
  const again = await openPullRequestRecords(folder)
  expect(again.get(1)).toEqual(record(1, { state: 'merged', mergeCommit: 'b'.repeat(40) }))
  expect(again.find(({ target }) => target === 'main')).toEqual(record(10))
  expect(again.get(2)).toBeUndefined()
  expect(again.nextNumber()).toBe(11)
})

test('a record is a file for its owner alone, and nothing is left beside it', async () => {
  const records = await openPullRequestRecords(join(folder, 'deep', 'down'))
  await records.write(record(1))
  expect(readdirSync(join(folder, 'deep', 'down'))).toEqual(['1.json'])
  expect(statSync(join(folder, 'deep', 'down', '1.json')).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'deep', 'down')).mode & 0o777).toBe(0o700)
})

test('what could not be written is not remembered either', async () => {
  const records = await openPullRequestRecords(folder)
  rmSync(folder, { recursive: true })
  writeFileSync(folder, '')
  await expect(records.write(record(1))).rejects.toThrow('ENOTDIR')
  expect(records.get(1)).toBeUndefined()
})

test.each<[string, (text: string) => string]>([
  ['cut off', (text) => text.slice(0, 50)],
  ['empty', () => ''],
  ['no record', () => 'null'],
  ['another number', (text) => text.replace('"number": 1', '"number": 2')],
  ['no branch', (text) => text.replace('"branch"', '"bramch"')],
  ['an unknown state', (text) => text.replace('"open"', '"opened"')],
  ['merged by nothing', (text) => text.replace('"open"', '"merged"')],
  ['no reviews', (text) => text.replace('"reviews"', '"views"')],
])('a damaged record is named and not passed over: %s', async (_, damage) => {
  await (await openPullRequestRecords(folder)).write(record(1))
  const file = join(folder, '1.json')
  writeFileSync(file, damage(readFileSync(file, 'utf8')))
  await expect(openPullRequestRecords(folder)).rejects.toThrow('1.json is damaged')
})
