import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentId, EventId, RunId } from '../../agents/values.ts'
import type { Batch, Journal, JournalReader, LoadedAgent, Recovery } from '../../runtime/journal.ts'
import { makeStateFolder, refuseNetworkFileSystem } from '../file-system.ts'
import { StateFolderError } from '../state-folder-error.ts'
import { type Database, openDatabase } from './driver.ts'
import { migrate, requireSchema } from './migrate.ts'
import {
  agentChecksum,
  effectChecksum,
  mailChecksum,
  restOf,
  rowChecksum,
  runChecksum,
  timerChecksum,
  toAgent,
  toEffect,
  toInboxEvent,
  toRun,
  toStoredRow,
  toTimer,
} from './rows.ts'
import { toJournalError } from './sqlite-fault.ts'
import { prepareStatements, type Statements } from './statements.ts'
import { takeWriterLock, type WriterLock } from './writer-lock.ts'

const FILE = 'journal.db'
const BUSY_TIMEOUT_MS = 5_000
const SQLITE_PAGE_BYTES_MIN = 512

/**
 * What a start reads, and so what it checks: what is open, and not all that ever happened. A
 * million rows take 0.4 s to check. They carry checksums, are checked whole by a reader, and are
 * verified when they are replayed.
 */
const OPEN_WORK = ['meta', 'runs', 'inbox', 'effects', 'timers']

/** Opens the journal of a state folder as its only writer; the folder is made when it is not there. */
export async function openSqliteJournal(folder: string): Promise<Journal> {
  const path = join(folder, FILE)
  makeStateFolder(folder)
  refuseNetworkFileSystem(folder)
  let lock: WriterLock | undefined
  let database: Database | undefined
  try {
    // The folder lies in the user's repository and is none of its business.
    writeFileSync(join(folder, '.gitignore'), '*\n', { mode: 0o600 })
    lock = await takeWriterLock(folder)
    refuseStump(path)
    database = await openDatabase(path)
    database.exec(`
      PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA foreign_keys = ON`)
    migrate(database, path)
    chmodSync(path, 0o600)
    for (const table of OPEN_WORK) checkIntegrity(database, `('${table}')`)
    return new SqliteJournal(path, database, lock)
  } catch (error) {
    database?.close()
    lock?.release()
    throw explain(error, folder, path)
  }
}

/**
 * Opens the journal of a state folder to read it as it is now, also while another process writes
 * it: what is written later is not seen, so that rows and snapshots fit together.
 */
export async function openSqliteJournalReader(folder: string): Promise<JournalReader> {
  const path = join(folder, FILE)
  if (!existsSync(path)) {
    throw new StateFolderError(
      `${folder} holds no journal. Start a run first, or name the state folder with --state.`,
    )
  }
  let database: Database | undefined
  try {
    refuseStump(path)
    database = await openDatabase(path, true)
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    database.exec('BEGIN')
    checkIntegrity(database)
    requireSchema(database, path)
    return new SqliteJournal(path, database)
  } catch (error) {
    database?.close()
    throw explain(error, folder, path)
  }
}

/**
 * SQLite takes a short file for an empty database: we do not. Only looked at, never opened by
 * hand: closing any descriptor of a file gives up all locks of the process on it.
 */
function refuseStump(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > 0 && size < SQLITE_PAGE_BYTES_MIN) throw damagedFile('the file is not a database')
}

/** Also compares indexes with their tables, which a quick check does not: a lost entry hides a row. */
function checkIntegrity(database: Database, scope = '(1)'): void {
  const problem = database.prepare(`PRAGMA integrity_check${scope}`).get()?.integrity_check
  if (problem !== 'ok') throw damagedFile(String(problem))
}

/** What SQLite says of such a file itself, where it notices. */
function damagedFile(problem: string): Error {
  return Object.assign(new Error(problem), { errcode: 11 })
}

function explain(error: unknown, folder: string, path: string): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EACCES' || code === 'EROFS') {
    return new StateFolderError(
      `${folder} is read-only (${code}). Make it writable, or choose another folder with --state.`,
      { cause: error },
    )
  }
  return toJournalError(error, path)
}

/** SQLite is synchronous; what it rejects with is the reason that nothing happened. */
class SqliteJournal implements Journal {
  readonly #path: string
  readonly #database: Database
  readonly #lock: WriterLock | undefined
  readonly #sql: Statements

  constructor(path: string, database: Database, lock?: WriterLock) {
    this.#path = path
    this.#database = database
    this.#lock = lock
    this.#sql = prepareStatements(database)
  }

  async recover(): Promise<Recovery> {
    const max = this.#sql.maxKeys.get()
    return {
      runs: this.#sql.runs.all().map(toRun),
      agentsWithMail: this.#sql.agentsWithMail.all().map((row) => row.id as AgentId),
      effects: this.#sql.effects.all().map(toEffect),
      nextDueMs: await this.nextDueMs(),
      nextAgentKey: Number(max?.agent ?? 0) + 1,
      nextRunKey: Number(max?.run ?? 0) + 1,
      nextOrder: Number(max?.place ?? 0) + 1,
    }
  }

  async loadAgents(ids: readonly AgentId[]): Promise<readonly LoadedAgent[]> {
    return ids.flatMap((id) => {
      const row = this.#sql.agentById.get(id)
      if (row === undefined) return []
      const record = toAgent(row)
      const inbox = this.#sql.mailOfAgent.all(id, record.key).map(toInboxEvent)
      return [{ record, inbox }]
    })
  }

  async commit(batch: Batch): Promise<void> {
    try {
      this.#sql.begin.run()
      if (this.#sql.lastBatch.get()?.value !== batch.id) {
        this.#write(batch)
        this.#sql.setLastBatch.run(batch.id)
      }
      this.#sql.commit.run()
    } catch (error) {
      try {
        this.#sql.rollback.run()
      } catch {
        // SQLite has rolled back by itself, as it does when the disk is full.
      }
      throw toJournalError(error, this.#path)
    }
  }

  async seen(ids: readonly EventId[]): Promise<ReadonlySet<EventId>> {
    const rows = this.#sql.accepted.all(JSON.stringify(ids))
    return new Set(rows.map((row) => row.event_id as EventId))
  }

  async dueTimers(nowMs: number, limit: number) {
    return this.#sql.dueTimers.all(nowMs, limit).map(toTimer)
  }

  async nextDueMs(): Promise<number | null> {
    return (this.#sql.nextDue.get()?.due_ms ?? null) as number | null
  }

  async readRows(run: RunId, afterSeq: number, limit: number) {
    return this.#sql.rowsOfRun.all(run, afterSeq, limit).map(toStoredRow)
  }

  async readAgents(run: RunId) {
    return this.#sql.agentsOfRun.all(run).map(toAgent)
  }

  async readRuns() {
    return this.#sql.runs.all().map(toRun)
  }

  async close(): Promise<void> {
    try {
      // The whole journal is in one file when nobody writes it; a reader lets go of what it saw.
      this.#database.exec(this.#lock ? 'PRAGMA wal_checkpoint(TRUNCATE)' : 'COMMIT')
    } finally {
      // The packaged SQLite lets go of its files when its statements are collected, not before.
      for (const name of Object.keys(this.#sql))
        delete (this.#sql as Partial<Statements>)[name as keyof Statements]
      this.#database.close()
      this.#lock?.release()
    }
  }

  #write(batch: Batch): void {
    const sql = this.#sql
    for (const run of batch.runs) {
      const config = JSON.stringify(run.config)
      const sum = runChecksum(run, config)
      sql.putRun.run(run.key, run.id, run.status, run.createdMs, config, sum)
    }
    for (const agent of batch.agents) {
      const { key, id, runKey, role, machine, state, seq } = agent
      const rest = restOf(agent)
      const sum = agentChecksum(agent, rest)
      sql.putAgent.run(key, id, runKey, role, machine, state, seq, rest, sum)
    }
    for (const row of batch.rows) {
      const { run, agent, agentSeq, atMs, kind, eventId, eventType, from, to, move } = row
      const body = JSON.stringify(row.body)
      const sum = rowChecksum(row, body)
      sql.addRow.run(
        run,
        agent,
        agentSeq,
        atMs,
        kind,
        eventId,
        eventType,
        from,
        to,
        move,
        body,
        sum,
      )
    }
    this.#writeOpenWork(batch)
  }

  #writeOpenWork(batch: Batch): void {
    const sql = this.#sql
    if (batch.accepted.length > 0) sql.accept.run(JSON.stringify(batch.accepted))
    for (const order of batch.inboxRemoved) sql.removeMail.run(order)
    for (const event of batch.inboxAdded) {
      const { order, agentKey, id, type, atMs, urgent, tries } = event
      const payload = JSON.stringify(event.payload)
      const sum = mailChecksum(event, payload)
      sql.addMail.run(order, agentKey, id, type, payload, atMs, urgent ? 1 : 0, tries, sum)
    }
    for (const id of batch.effectsRemoved) sql.removeEffect.run(id)
    for (const effect of batch.effectsAdded) {
      const { id, agent, kind, askedMs, waiting } = effect
      const input = JSON.stringify(effect.input)
      const sum = effectChecksum(effect, input)
      sql.addEffect.run(id, agent, kind, input, askedMs, waiting ? 1 : 0, sum)
    }
    for (const { id, waiting } of batch.effectsWaiting) sql.setWaiting.run(waiting ? 1 : 0, id)
    for (const { agent, name } of batch.timersRemoved) sql.removeTimer.run(agent, name)
    for (const timer of batch.timersSet) {
      const { agent, name, epoch, dueMs } = timer
      sql.setTimer.run(agent, name, epoch, dueMs, timerChecksum(timer))
    }
  }
}
