import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { AgentId, EventId } from '../../src/agents/values.ts'
import { type Database, openDatabase } from '../../src/journal/sqlite/driver.ts'
import {
  openSqliteJournal,
  openSqliteJournalReader,
} from '../../src/journal/sqlite/sqlite-journal.ts'
import { agentOf, batchOf, RUN, rowOf, runOf } from './batches.ts'

/** Every connection that is opened. It begins as SQLite has it: both drivers turn foreign keys on. */
const opened = vi.hoisted((): Database[] => [])
vi.mock('../../src/journal/sqlite/driver.ts', async (importOriginal) => {
  const driver = await importOriginal<typeof import('../../src/journal/sqlite/driver.ts')>()
  return {
    openDatabase: async (...args: Parameters<typeof openDatabase>) => {
      const database = await driver.openDatabase(...args)
      database.exec('PRAGMA foreign_keys = OFF')
      opened.push(database)
      return database
    },
  }
})

let folder: string
let file: string
const closing: (() => unknown)[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-settings-'))
  file = join(folder, 'journal.db')
})

afterEach(async () => {
  opened.length = 0
  for (const close of closing.splice(0).reverse()) await close()
  rmSync(folder, { recursive: true })
})

/** Opens a journal, with a look at its connection: some settings are to be seen there alone. */
async function open<J extends { close(): Promise<void> }>(openIn: (folder: string) => Promise<J>) {
  const journal = await openIn(folder)
  closing.push(() => journal.close())
  const connection = opened.at(-1)
  const read = (name: string) => Object.values(connection?.prepare(`PRAGMA ${name}`).get() ?? {})[0]
  return { journal, read }
}

/** Another program that writes to the file for a moment, and says when it has begun. */
async function writeMeanwhile(): Promise<void> {
  const program = `
    const driver = process.getBuiltinModule?.('node:sqlite') ?? require('@photostructure/sqlite')
    const database = new driver.DatabaseSync(process.argv[1])
    database.exec("BEGIN IMMEDIATE; INSERT INTO meta VALUES ('other', '1')")
    console.log('begun')
    setTimeout(() => database.exec('COMMIT'), 300)`
  const child = spawn(process.execPath, ['--no-warnings', '-e', program, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  closing.push(() => child.exitCode ?? once(child, 'exit'))
  await once(child.stdout, 'data')
}

describe('the settings of an open journal', () => {
  test('make a commit durable when it is done', async () => {
    const { read } = await open(openSqliteJournal)
    expect(read('journal_mode')).toBe('wal')
    // FULL: the packaged SQLite has NORMAL for a WAL, which loses commits when the power fails.
    expect(read('synchronous')).toBe(2)
  })

  test('have it name nothing that is not there', async () => {
    const { journal, read } = await open(openSqliteJournal)
    expect(read('foreign_keys')).toBe(1)
    const { row, agent } = rowOf(agentOf(1))
    const orphan = batchOf({ agents: [agent], rows: [row] })
    await expect(journal.commit(orphan)).rejects.toThrow(/FOREIGN KEY/)
  })

  test('have it wait for others', async () => {
    const writer = await open(openSqliteJournal)
    expect(writer.read('busy_timeout')).toBe(5_000)
    const reader = await open(openSqliteJournalReader)
    expect(reader.read('busy_timeout')).toBe(5_000)
  })

  test('have it take its turn before it reads what it writes by', async () => {
    const { journal } = await open(openSqliteJournal)
    await writeMeanwhile()
    // A transaction that began by reading could not go on: what it read is old meanwhile.
    await journal.commit(batchOf({ runs: [runOf()] }))
    expect(await journal.readRuns()).toEqual([runOf()])
  })
})

describe('ids that were looked up and not committed', () => {
  /** Fails where the journal still has its transaction. */
  async function writeAtOnce(sql: string): Promise<void> {
    const other = await openDatabase(file)
    try {
      other.exec(`PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ${sql}; COMMIT`)
    } finally {
      other.close()
    }
  }

  test('are forgotten with their transaction when the next question fails', async () => {
    const { journal } = await open(openSqliteJournal)
    const { row, agent } = rowOf(agentOf(1), { kind: 'born', to: 'WAITING' })
    await journal.commit(batchOf({ runs: [runOf()], agents: [agent], rows: [row] }))
    await writeAtOnce(`UPDATE agents SET state = 'DONE'`)

    const ids = ['a', 'b'] as EventId[]
    expect(await journal.seen(ids)).toEqual(new Set())
    await expect(journal.loadAgents([agent.id])).rejects.toThrow('agent agent-1 is damaged')
    await writeAtOnce(`UPDATE agents SET state = 'WAITING'`)
    expect(await journal.loadAgents(['agent-2' as AgentId])).toEqual([])
    await journal.commit(batchOf({ accepted: ids.slice(1) }))
    expect(await journal.seen(ids)).toEqual(new Set(ids.slice(1)))
    expect(await journal.readRows(RUN, 0, 10)).toHaveLength(1)
  })

  test('are looked up again after a commit that failed', async () => {
    const { journal } = await open(openSqliteJournal)
    const ids = ['a', 'b'] as EventId[]
    const { row, agent } = rowOf(agentOf(1))
    expect(await journal.seen(ids)).toEqual(new Set())
    const orphan = batchOf({ agents: [agent], rows: [row], accepted: ids })
    await expect(journal.commit(orphan)).rejects.toThrow(/FOREIGN KEY/)
    await writeAtOnce('SELECT 1')
    expect(await journal.seen(ids)).toEqual(new Set())
  })
})
