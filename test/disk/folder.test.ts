import fs, { copyFileSync, existsSync, mkdirSync, readlinkSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openBlobFiles } from '../../src/journal/blob-files.ts'
import { openDatabase } from '../../src/journal/sqlite/driver.ts'
import {
  openSqliteJournal,
  openSqliteJournalReader,
} from '../../src/journal/sqlite/sqlite-journal.ts'
import { makeFolder } from './state.ts'

let folder: string
let remove: () => void
beforeEach(() => {
  ;({ folder, remove } = makeFolder())
})
afterEach(() => remove())

describe('names are durable', () => {
  let restore: (() => void)[]
  beforeEach(() => {
    restore = []
  })
  afterEach(() => {
    for (const undo of restore.splice(0)) undo()
  })

  /** Notes what the process asks the system to sync, by path; the system still does it. */
  async function watchSyncs(): Promise<string[]> {
    const synced: string[] = []
    const handle = await open(folder, 'r')
    const handles = Object.getPrototypeOf(handle)
    await handle.close()
    const { sync } = handles
    handles.sync = function (this: { fd: number }) {
      synced.push(readlinkSync(`/proc/self/fd/${this.fd}`))
      return sync.call(this)
    }
    const { fsyncSync } = fs
    fs.fsyncSync = (fd) => {
      synced.push(readlinkSync(`/proc/self/fd/${fd}`))
      fsyncSync(fd)
    }
    syncBuiltinESMExports()
    restore.push(() => {
      handles.sync = sync
      fs.fsyncSync = fsyncSync
      syncBuiltinESMExports()
    })
    return synced
  }

  test('of a new state folder, with the folders above it', async () => {
    const synced = await watchSyncs()
    const state = join(folder, 'deep', 'state')
    await (await openSqliteJournal(state)).close()
    expect(synced).toEqual([join(folder, 'deep'), folder])
  })

  test('of a blob and of each folder that it needs, also where another put made them', async () => {
    const state = join(folder, 'state')
    mkdirSync(state)
    const synced = await watchSyncs()
    const root = join(state, 'blobs')
    const blobs = openBlobFiles(root)
    const [ref] = await Promise.all([blobs.put('content'), blobs.put('content')])
    const parent = join(root, ref.sha256.slice(0, 2))
    expect(synced).toEqual(expect.arrayContaining([state, root, parent]))
    expect(synced.lastIndexOf(parent)).toBeGreaterThan(synced.lastIndexOf(root))

    synced.length = 0
    await blobs.put('content')
    expect(synced, 'who finds a name cannot know that it is durable').toEqual([parent])
    synced.length = 0
    await openBlobFiles(root).put('content')
    expect(synced, 'nor can another process').toEqual([root, state, parent])
  })
})

describe('the lock', () => {
  test('comes before anything is written', async () => {
    const journal = await openSqliteJournal(folder)
    rmSync(join(folder, '.gitignore'))
    await expect(openSqliteJournal(folder)).rejects.toThrow('is in use by process')
    expect(existsSync(join(folder, '.gitignore'))).toBe(false)
    await journal.close()
    await (await openSqliteJournal(folder)).close()
    expect(existsSync(join(folder, '.gitignore'))).toBe(true)
  })

  test.each(['writer.json', '.gitignore'])(
    'is given back when %s cannot be written',
    async (name) => {
      const path = join(folder, name)
      mkdirSync(path)
      await expect(openSqliteJournal(folder)).rejects.toThrow(
        `${path} cannot be written (EISDIR). Mend that, or choose another folder with --state.`,
      )
      rmSync(path, { recursive: true })
      await (await openSqliteJournal(folder)).close()
    },
  )
})

describe('a folder in the place of the journal', () => {
  test.each([
    ['a writer', openSqliteJournal],
    ['a reader', openSqliteJournalReader],
  ])('is refused with what to do: %s', async (_, openJournal) => {
    const path = join(folder, 'journal.db')
    mkdirSync(path)
    await expect(openJournal(folder)).rejects.toMatchObject({
      name: 'StateFolderError',
      message: `${path} is not a file, so it is no journal. Move it away, or name another state folder with --state.`,
    })
    rmSync(path, { recursive: true })
    await (await openSqliteJournal(folder)).close()
  })
})

test('a journal whose making was cut off is none yet, for who only reads', async () => {
  const path = join(folder, 'made.db')
  const database = await openDatabase(path)
  database.exec('CREATE TABLE before (text); PRAGMA cache_size = 5; BEGIN')
  for (let i = 0; i < 200; i += 1)
    database.exec(`INSERT INTO before VALUES ('${'x'.repeat(4_000)}')`)
  for (const end of ['', '-journal'])
    copyFileSync(`${path}${end}`, join(folder, `journal.db${end}`))
  database.exec('ROLLBACK')
  database.close()
  await expect(openSqliteJournalReader(folder)).rejects.toThrow('Start a run in it once')
})
