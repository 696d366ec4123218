import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/journal/sqlite/driver.ts'
import {
  openSqliteJournal,
  openSqliteJournalReader,
} from '../../src/journal/sqlite/sqlite-journal.ts'
import { replay } from '../../src/runtime/replay.ts'
import { Random } from '../drill/random.ts'
import { makeFolder, openState, RUN } from './state.ts'

const FLIPS = 50
const NOTES = 20
const HEADER_BYTES = 32
const FRAME_BYTES = 24 + 4_096

let folder: string
let remove: () => void
/** What a process leaves that is killed. */
let left: string
let log: string

beforeEach(() => {
  ;({ folder, remove } = makeFolder())
  left = join(folder, 'left')
  log = join(left, 'journal.db-wal')
  mkdirSync(left)
})

afterEach(() => remove())

/** Writes notes, and keeps the files as they are while the writer still has them. */
async function leave(write: (note: (i: number) => Promise<unknown>) => Promise<void>) {
  const state = await openState(join(folder, 'state'))
  await write((i) => state.note(`n${i}`, { text: `note ${i} `.repeat(20) }))
  for (const name of ['journal.db', 'journal.db-wal']) {
    copyFileSync(join(folder, 'state', name), join(left, name))
  }
  await state.close()
  return readFileSync(log)
}

async function leaveNotes(): Promise<Buffer> {
  return leave(async (note) => {
    for (let i = 0; i < NOTES; i += 1) await note(i)
  })
}

/** The notes that a reader finds in what was left; only those whose handling is in the journal. */
async function readNotes(): Promise<string[]> {
  const reader = await openSqliteJournalReader(left)
  try {
    const ids: string[] = []
    const { differences } = await replay(reader, RUN, { onRow: (row) => ids.push(row.eventId) })
    expect(differences).toEqual([])
    return ids.filter((id) => id.startsWith('n'))
  } finally {
    await reader.close()
  }
}

const notes = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`)

/** Where each transaction of the log ends. Frames of an earlier time are behind those. */
function endsOf(bytes: Buffer): number[] {
  const ends: number[] = []
  for (let at = HEADER_BYTES; at + FRAME_BYTES <= bytes.length; at += FRAME_BYTES) {
    if (bytes.compare(bytes, 16, 24, at + 8, at + 16) !== 0) break
    if (bytes.readUInt32BE(at + 4) !== 0) ends.push(at + FRAME_BYTES)
  }
  return ends
}

async function expectRefusal(what: string): Promise<void> {
  const before = ['journal.db', 'journal.db-wal'].map((name) => readFileSync(join(left, name)))
  for (const open of [openSqliteJournal, openSqliteJournalReader]) {
    await expect(open(left), what).rejects.toMatchObject({
      name: 'JournalError',
      fault: 'damaged',
      message: expect.stringMatching(/the database is damaged; nothing was changed.*of its log/),
    })
  }
  const after = ['journal.db', 'journal.db-wal'].map((name) => readFileSync(join(left, name)))
  expect(after.every((bytes, i) => bytes.equals(before[i] as Buffer))).toBe(true)
}

describe('a damaged log', () => {
  test(`is refused and left as it is: ${FLIPS} flipped bytes before the last transaction`, async () => {
    const bytes = await leaveNotes()
    const ends = endsOf(bytes)
    expect(ends.length).toBeGreaterThan(NOTES)
    const random = new Random(Date.now())
    for (let flip = 0; flip < FLIPS; flip += 1) {
      const offset = random.below(ends.at(-2) ?? 0)
      const damaged = Buffer.from(bytes)
      damaged[offset] = (damaged[offset] ?? 0) ^ (1 + random.below(255))
      writeFileSync(log, damaged)
      await expectRefusal(`byte ${offset}`)
    }
  })

  test('is refused wherever the last frame that counts is hit', async () => {
    const bytes = await leaveNotes()
    const frame = (endsOf(bytes).at(-2) ?? 0) - FRAME_BYTES
    for (const place of [0, 8, 12, 16, 20, 24, FRAME_BYTES - 1]) {
      const damaged = Buffer.from(bytes)
      damaged[frame + place] = (damaged[frame + place] ?? 0) ^ 0x55
      writeFileSync(log, damaged)
      await expectRefusal(`byte ${place} of the frame`)
    }
  })

  test('is refused when its header is gone', async () => {
    const bytes = await leaveNotes()
    writeFileSync(log, bytes.fill(0, 0, HEADER_BYTES))
    await expectRefusal('no header')
  })
})

describe('a log whose database is lost', () => {
  test.each([
    ['gone', () => rmSync(join(left, 'journal.db'))],
    ['empty', () => truncateSync(join(left, 'journal.db'))],
  ])('is refused and kept: %s', async (_, lose) => {
    const bytes = await leaveNotes()
    lose()
    for (const open of [openSqliteJournal, openSqliteJournalReader]) {
      await expect(open(left)).rejects.toMatchObject({
        fault: 'damaged',
        message: expect.stringContaining('it is gone or empty, and not so its log'),
      })
    }
    expect(readFileSync(log).equals(bytes)).toBe(true)
  })

  test('is of no use where nothing was written to it', async () => {
    writeFileSync(log, Buffer.alloc(4_300_000))
    await expect(openSqliteJournalReader(left)).rejects.toThrow('holds no journal')
    await (await openSqliteJournal(left)).close()
  })
})

describe('a log is read as far as it was written', () => {
  test('whole', async () => {
    await leaveNotes()
    expect(await readNotes()).toEqual(notes(NOTES))
  })

  test.each([
    ['with its first frame torn', (bytes: Buffer, from: number) => bytes.fill(0, from, from + 99)],
    [
      'with a later frame torn',
      (bytes: Buffer, _: number, to: number) => bytes.fill(0, to - 99, to),
    ],
    ['without its end', (bytes: Buffer, _: number, to: number) => bytes.subarray(0, to - 1)],
  ])('up to a last transaction %s', async (_, tear) => {
    const bytes = await leaveNotes()
    const [from, to] = endsOf(bytes).slice(-2) as [number, number]
    writeFileSync(log, tear(bytes, from, to))
    const journal = await openSqliteJournal(left)
    await journal.close()
    expect((await readNotes()).length).toBeGreaterThanOrEqual(NOTES - 1)
  })

  test('up to where it was torn twice', async () => {
    const bytes = await leaveNotes()
    const ends = endsOf(bytes)
    const [from, to] = ends.slice(-2) as [number, number]
    // What a transaction left that was torn before, and that later ones were written over.
    const older = Buffer.from(bytes.subarray(ends.at(-4), ends.at(-3)))
    older.copy(bytes, to)
    writeFileSync(log, bytes.fill(0, from, from + 99))
    expect((await readNotes()).length).toBeGreaterThanOrEqual(NOTES - 1)
  })

  test('where it was begun anew over what is old', async () => {
    const bytes = await leave(async (note) => {
      for (let i = 0; i < NOTES; i += 1) await note(i)
      const other = await openDatabase(join(folder, 'state', 'journal.db'))
      other.exec('PRAGMA wal_checkpoint(PASSIVE)')
      other.close()
      await note(NOTES)
    })
    const end = endsOf(bytes).at(-1) ?? 0
    expect(bytes.readUInt32BE(end), 'an old frame follows').not.toBe(0)
    expect(await readNotes()).toEqual(notes(NOTES + 1))
  })

  test('where there is room and nothing in it', async () => {
    const journal = await openSqliteJournal(join(folder, 'state'))
    await journal.close()
    copyFileSync(join(folder, 'state', 'journal.db'), join(left, 'journal.db'))
    writeFileSync(log, Buffer.alloc(4_300_000))
    await (await openSqliteJournalReader(left)).close()
    await (await openSqliteJournal(left)).close()
  })
})
