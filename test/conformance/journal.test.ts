import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { MemoryDisk, openMemoryJournal } from '../simulation/memory-journal.ts'
import { describeJournal } from './journal.ts'

describeJournal('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-journal-'))
  return {
    open: () => openSqliteJournal(folder),
    dispose: async () => rmSync(folder, { recursive: true }),
  }
})

// The simulation stands on this one, so it has to be as good.
describeJournal('the simulated disk', async () => {
  const disk = new MemoryDisk()
  return { open: async () => openMemoryJournal(disk), dispose: async () => {} }
})
