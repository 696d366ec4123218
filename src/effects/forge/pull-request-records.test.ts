import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPullRequestRecords, type PullRequestRecord } from './pull-request-records.ts'

let folder: string
let copies: Map<number, string>
let reports: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-records-'))
  copies = new Map()
  reports = []
})

afterEach(() => rmSync(folder, { recursive: true }))

const openIn = (place = folder) =>
  openPullRequestRecords(
    place,
    {
      list: async () => [...copies.keys()],
      read: async (number) => copies.get(number),
      write: async (number, text) => void copies.set(number, text),
    },
    (line) => reports.push(line),
  )

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
  const records = await openIn()
  expect(records.nextNumber()).toBe(1)
  await records.write(record(1))
  await records.write(record(10))
  await records.write(record(1, { state: 'merged', mergeCommit: 'b'.repeat(40) }))
  const again = await openIn()
  expect(again.get(1)).toEqual(record(1, { state: 'merged', mergeCommit: 'b'.repeat(40) }))
  expect(again.find(({ target }) => target === 'main')).toEqual(record(10))
  expect(again.get(2)).toBeUndefined()
  expect(again.nextNumber()).toBe(11)
})

test('a record is a file for its owner alone, and nothing is left beside it', async () => {
  const records = await openIn(join(folder, 'deep', 'down'))
  await records.write(record(1))
  expect(readdirSync(join(folder, 'deep', 'down'))).toEqual(['1.json'])
  expect(statSync(join(folder, 'deep', 'down', '1.json')).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'deep', 'down')).mode & 0o777).toBe(0o700)
})

test('what could not be written is not remembered either', async () => {
  const records = await openIn()
  rmSync(folder, { recursive: true })
  writeFileSync(folder, '')
  await expect(records.write(record(1))).rejects.toThrow('ENOTDIR')
  expect(records.get(1)).toBeUndefined()
})

const damages: Readonly<Record<string, (text: string) => string>> = {
  'cut off': (text) => text.slice(0, 50),
  empty: () => '',
  'no record': () => 'null',
  'another number': (text) => text.replace('"number": 1', '"number": 2'),
  'no branch': (text) => text.replace('"branch"', '"bramch"'),
  'an unknown state': (text) => text.replace('"open"', '"opened"'),
  'merged by nothing': (text) => text.replace('"open"', '"merged"'),
  'no reviews': (text) => text.replace('"reviews"', '"views"'),
}

async function spoil(how: string): Promise<string> {
  await (await openIn()).write(record(1))
  const file = join(folder, '1.json')
  const spoilt = damages[how]?.(readFileSync(file, 'utf8')) ?? ''
  writeFileSync(file, spoilt)
  return spoilt
}

test.each(Object.keys(damages))(
  'a damaged record is kept, and back from its copy: %s',
  async (how) => {
    const spoilt = await spoil(how)
    expect((await openIn()).get(1)).toEqual(record(1))
    const kept = join(folder, '1.json.damaged')
    expect(readFileSync(kept, 'utf8')).toBe(spoilt)
    const line = `the record of pull request 1 was damaged and is kept as ${kept}; it is back from its copy in git`
    expect(reports).toEqual([line])
    expect((await openIn()).get(1)).toEqual(record(1))
    expect(reports).toEqual([line])
  },
)

test('a record that is gone is back from its copy', async () => {
  await (await openIn()).write(record(1))
  rmSync(join(folder, '1.json'))
  expect((await openIn()).get(1)).toEqual(record(1))
  expect(reports).toEqual([expect.stringMatching(/pull request 1 was gone/)])
})

test('a damaged record without a copy is named, kept, and its number not given again', async () => {
  for (const kept of ['1.json.damaged', '1.json.damaged-2']) {
    const spoilt = await spoil('cut off')
    copies.clear()
    const records = await openIn()
    expect(records.get(1)).toBeUndefined()
    expect(records.nextNumber()).toBe(2)
    expect(reports.at(-1)).toMatch(new RegExp(`1.json is damaged, without a copy.*${kept}$`))
    expect(readFileSync(join(folder, kept), 'utf8')).toBe(spoilt)
  }
})
