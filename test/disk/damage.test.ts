import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AgentId } from '../../src/agents/values.ts'
import { openDatabase } from '../../src/journal/sqlite/driver.ts'
import {
  openSqliteJournal,
  openSqliteJournalReader,
} from '../../src/journal/sqlite/sqlite-journal.ts'
import { replay } from '../../src/runtime/replay.ts'
import { Random } from '../drill/random.ts'
import { makeFolder, openState, RUN } from './state.ts'

const FLIPS = 150

let folder: string
let remove: () => void
let file: string

beforeEach(async () => {
  ;({ folder, remove } = makeFolder())
  file = join(folder, 'journal.db')
  const state = await openState(folder)
  for (let i = 0; i < 60; i += 1) await state.note(`n${i}`, { text: `note ${i} `.repeat(20) })
  await state.close()
})

afterEach(() => remove())

/** All that a reader gets to see, or what it is told instead. */
async function readAll(): Promise<string> {
  try {
    const journal = await openSqliteJournalReader(folder)
    try {
      const rows: unknown[] = []
      const { agents, differences } = await replay(journal, RUN, { onRow: (row) => rows.push(row) })
      if (differences.length > 0) return `differs: ${differences[0]}`
      return JSON.stringify({ rows, agents, runs: await journal.readRuns() })
    } finally {
      await journal.close()
    }
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`
  }
}

describe('a damaged database', () => {
  test(`is never read as something else: ${FLIPS} flipped bytes, anywhere`, async () => {
    const sound = await readAll()
    expect(sound).toContain('note 59')
    const bytes = readFileSync(file)
    const random = new Random(Date.now())
    let noticed = 0
    for (let flip = 0; flip < FLIPS; flip += 1) {
      const offset = random.below(bytes.length)
      const damaged = Buffer.from(bytes)
      damaged[offset] = (damaged[offset] ?? 0) ^ (1 + random.below(255))
      writeFileSync(file, damaged)
      const seen = await readAll()
      if (seen === sound) continue
      noticed += 1
      expect(seen, `byte ${offset}`).toMatch(/^(JournalError|StateFolderError|differs|Error): /)
    }
    expect(noticed).toBeGreaterThan(FLIPS / 10)
  })

  test('is refused with what to do, and left as it is', async () => {
    const bytes = readFileSync(file)
    bytes.fill(0xff, 4_096, 12_288)
    writeFileSync(file, bytes)
    const opening = openSqliteJournal(folder)
    await expect(opening).rejects.toMatchObject({ name: 'JournalError', fault: 'damaged' })
    await expect(opening).rejects.toThrow(/the database is damaged; nothing was changed.*backup/)
    expect(readFileSync(file).equals(bytes)).toBe(true)
  })

  test('that is found out later is told in the same words', async () => {
    const bytes = readFileSync(file)
    const page = bytes.lastIndexOf('agent-1notebook')
    expect(page, 'the page with the agents is in the file').toBeGreaterThan(0)
    bytes.fill(0xff, page - (page % 4_096), page - (page % 4_096) + 100)
    writeFileSync(file, bytes)
    const journal = await openSqliteJournal(folder)
    const reading = journal.loadAgents(['agent-1' as AgentId])
    await expect(reading).rejects.toMatchObject({ name: 'JournalError', fault: 'damaged' })
    await expect(reading).rejects.toThrow(/the database is damaged/)
    await journal.close()
  })

  test('that is no database at all is refused', async () => {
    writeFileSync(file, 'this is a text file, and a long one at that\n'.repeat(100))
    await expect(openSqliteJournal(folder)).rejects.toMatchObject({ fault: 'damaged' })
  })

  test('does not keep the lock: the mended folder opens again', async () => {
    const bytes = readFileSync(file)
    writeFileSync(file, 'broken')
    await expect(openSqliteJournal(folder)).rejects.toThrow()
    writeFileSync(file, bytes)
    const state = await openState(folder)
    expect(await state.note('n59', null)).toBe('duplicate')
    await state.close()
  })
})

test('a journal from a newer version is refused, and left as it is', async () => {
  const database = await openDatabase(file)
  database.exec('PRAGMA user_version = 999')
  database.close()
  const bytes = readFileSync(file)
  for (const open of [openSqliteJournal, openSqliteJournalReader]) {
    await expect(open(folder)).rejects.toThrow(
      /written by a newer version of slipway \(schema 999, this one knows 1\). Update slipway/,
    )
  }
  expect(readFileSync(file).equals(bytes)).toBe(true)
})

test('files are for their owner alone', () => {
  expect(statSync(join(folder, 'writer.json')).mode & 0o777).toBe(0o600)
  expect(statSync(file).mode & 0o077).toBe(0)
})
