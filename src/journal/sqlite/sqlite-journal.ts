import { chmodSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentId, EventId, RunId } from '../../agents/values.ts'
import type { Batch, Journal, JournalReader, LoadedAgent, Recovery } from '../../runtime/journal.ts'
import type { AgentRecord, JournalRow } from '../../runtime/records.ts'
import { makeStateFolder, toStateFolderError, writeOwnFile } from '../file-system.ts'
import { refuseNetworkFileSystem } from '../network-file-system.ts'
import { NoJournalError, StateFolderError } from '../state-folder-error.ts'
import { AcceptedIds } from './accepted-ids.ts'
import { type Database, openDatabase, type SqlValue } from './driver.ts'
import { refuseDamagedLog, reserveLog } from './log.ts'
import { migrate, outOfDate, requireSchema } from './migrate.ts'
import { needsCopy, openCopy } from './read-only.ts'
import {
  agentChecksum,
  closureChecksum,
  effectChecksum,
  fillRow,
  mailChecksum,
  phaseNumber,
  ROW_COLUMNS,
  restOf,
  runChecksum,
  timerChecksum,
  toAgent,
  toClosure,
  toEffect,
  toInboxEvent,
  toOpenAgent,
  toRun,
  toStoredRow,
  toTimer,
} from './rows.ts'
import { damagedFile, toJournalError } from './sqlite-fault.ts'
import { prepareStatements, ROWS_AT_ONCE, type Statements } from './statements.ts'
import { Steps } from './steps.ts'
import { takeWriterLock, type WriterLock } from './writer-lock.ts'

const FILE = 'journal.db'
const BUSY_TIMEOUT_MS = 5_000
const SQLITE_PAGE_BYTES_MIN = 512

/**
 * What a start reads, and so what it checks: what is open, and not all that ever happened. A
 * million rows take 0.4 s to check. They carry checksums, are checked whole by a reader, and are
 * verified when they are replayed.
 */
const OPEN_WORK = ['meta', 'runs', 'steps', 'inbox', 'effects', 'timers', 'closures']

/** Opens the journal of a state folder as its only writer; the folder is made when it is not there. */
export async function openSqliteJournal(folder: string): Promise<Journal> {
  const path = join(folder, FILE)
  makeStateFolder(folder)
  refuseNetworkFileSystem(folder)
  let lock: WriterLock | undefined
  let database: Database | undefined
  try {
    lock = await takeWriterLock(folder)
    // The folder lies in the user's repository and is none of its business.
    writeOwnFile(join(folder, '.gitignore'), '*\n')
    sizeOfFile(path)
    await refuseDamagedLog(path)
    database = await openDatabase(path)
    database.exec(`
      PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA foreign_keys = ON`)
    migrate(database, path)
    chmodSync(path, 0o600)
    for (const table of OPEN_WORK) checkIntegrity(database, `('${table}')`)
    reserveLog(`${path}-wal`)
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
  try {
    const size = sizeOfFile(path)
    await refuseDamagedLog(path)
    if (size === undefined) {
      throw new NoJournalError(
        `${folder} holds no journal. Start a run first, or name the state folder with --state.`,
      )
    }
    const database = await openSnapshot(path, path).catch((error) => {
      if (!needsCopy(error, path)) throw error
      return openCopy(path, (copy) => openSnapshot(copy, path))
    })
    return new SqliteJournal(path, database)
  } catch (error) {
    throw explain(error, folder, path)
  }
}

/** Opens a file of the journal, which has to be whole, to read it as it is now. */
async function openSnapshot(file: string, path: string): Promise<Database> {
  const database = await openDatabase(file, true)
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    database.exec('BEGIN')
    checkIntegrity(database)
    requireSchema(database, path)
    return database
  } catch (error) {
    database.close()
    // It is there only while a database is made, and only a writer can undo what one had begun.
    throw existsSync(`${file}-journal`) ? outOfDate(path) : error
  }
}

/**
 * The size of the journal's file, or `undefined` where there is none. Refuses what is no file, and
 * a short one, which SQLite takes for an empty database. Only looked at, never opened by hand:
 * closing any descriptor of a file gives up all locks of the process on it.
 */
function sizeOfFile(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (!stats.isFile()) {
    throw new StateFolderError(
      `${path} is not a file, so it is no journal. Move it away, or name another state folder with --state.`,
    )
  }
  if (stats.size > 0 && stats.size < SQLITE_PAGE_BYTES_MIN) {
    throw damagedFile('the file is not a database')
  }
  return stats.size
}

/** Also compares indexes with their tables, which a quick check does not: a lost entry hides a row. */
function checkIntegrity(database: Database, scope = '(1)'): void {
  const problem = database.prepare(`PRAGMA integrity_check${scope}`).get()?.integrity_check
  if (problem !== 'ok') throw damagedFile(String(problem))
}

function explain(error: unknown, folder: string, path: string): Error {
  return toJournalError(toStateFolderError(error, folder), path)
}

/** SQLite is synchronous; what it rejects with is the reason that nothing happened. */
class SqliteJournal implements Journal {
  readonly #path: string
  readonly #database: Database
  readonly #lock: WriterLock | undefined
  readonly #sql: Statements
  readonly #steps: Steps
  readonly #accepted: AcceptedIds

  constructor(path: string, database: Database, lock?: WriterLock) {
    this.#path = path
    this.#database = database
    this.#lock = lock
    this.#sql = prepareStatements(database)
    this.#steps = new Steps(this.#sql)
    this.#accepted = new AcceptedIds(this.#sql)
  }

  async recover(): Promise<Recovery> {
    return this.#read((sql) => {
      // Looked up now, and not when their work is done and paid for.
      sql.openAgents.all().forEach(toOpenAgent)
      const max = sql.maxKeys.get()
      return {
        runs: sql.runs.all().map(toRun),
        agentsWithMail: sql.agentsWithMail.all().map((row) => row.id as AgentId),
        effects: sql.effects.all().map(toEffect),
        closures: sql.closures.all().map(toClosure),
        nextDueMs: readNextDueMs(sql),
        nextAgentKey: Number(max?.agent ?? 0) + 1,
        nextRunKey: Number(max?.run ?? 0) + 1,
        nextOrder: Number(max?.place ?? 0) + 1,
      }
    })
  }

  async loadAgents(ids: readonly AgentId[]): Promise<readonly LoadedAgent[]> {
    return this.#read((sql) =>
      ids.flatMap((id) => {
        const row = sql.agentById.get(id)
        if (row === undefined) return []
        const record = toAgent(row)
        const inbox = sql.mailOfAgent.all(id, record.key).map(toInboxEvent)
        return [{ record, inbox }]
      }),
    )
  }

  async commit(batch: Batch): Promise<void> {
    try {
      this.#accepted.begin(batch.accepted)
      if (this.#sql.lastBatch.get()?.value !== batch.id) {
        this.#write(batch)
        this.#sql.setLastBatch.run(batch.id)
      }
      this.#sql.commit.run()
    } catch (error) {
      this.#steps.forget()
      this.#accepted.rollBack()
      throw toJournalError(error, this.#path)
    }
  }

  async seen(ids: readonly EventId[]): Promise<ReadonlySet<EventId>> {
    return this.#read(() => this.#accepted.find(ids))
  }

  async dueTimers(nowMs: number, limit: number) {
    return this.#read((sql) => sql.dueTimers.all(nowMs, limit).map(toTimer))
  }

  async nextDueMs(): Promise<number | null> {
    return this.#read(readNextDueMs)
  }

  async readRows(run: RunId, afterSeq: number, limit: number) {
    return this.#read((sql) => sql.rowsOfRun.all(run, afterSeq, limit).map(toStoredRow))
  }

  async readLastMs(run: RunId): Promise<number | null> {
    const row = this.#read((sql) => sql.lastMsOfRun.get(run))
    return row === undefined ? null : Number(row.at_ms)
  }

  async readAccepted(ids: readonly EventId[]): Promise<ReadonlySet<EventId>> {
    return this.#read(() => this.#accepted.among(ids))
  }

  async readLost(limit: number): Promise<readonly EventId[]> {
    return this.#read(() => this.#accepted.lost(limit))
  }

  async readAgents(run: RunId) {
    return this.#read((sql) => sql.agentsOfRun.all(run).map(toAgent))
  }

  async readEffects(run: RunId) {
    return this.#read((sql) => sql.effects.all().map(toEffect)).filter(
      (effect) => effect.run === run,
    )
  }

  async readRuns() {
    return this.#read((sql) => sql.runs.all().map(toRun))
  }

  async close(): Promise<void> {
    try {
      this.#accepted.undoClaim()
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

  /** What SQLite says is said in the journal's words, so that it can be waited for where it passes. */
  #read<T>(read: (sql: Statements) => T): T {
    try {
      return read(this.#sql)
    } catch (error) {
      // SQLite may have rolled back by itself: a commit must not go on with what is not there.
      this.#accepted.undoClaim()
      throw toJournalError(error, this.#path)
    }
  }

  #write(batch: Batch): void {
    const sql = this.#sql
    for (const run of batch.runs) {
      const config = JSON.stringify(run.config)
      const sum = runChecksum(run, config)
      sql.putRun.run(run.key, run.id, run.status, run.createdMs, config, sum)
    }
    for (const agent of batch.agents) this.#writeAgent(agent)
    this.#writeRows(batch.rows)
    this.#writeOpenWork(batch)
  }

  #writeAgent(agent: AgentRecord): void {
    const { addAgent, setAgent } = this.#sql
    const { key, id, runKey, role, machine, state, seq } = agent
    const rest = restOf(agent)
    const sum = agentChecksum(agent, rest)
    // Most are there: only what changes is written, and an agent that is new once.
    if (Number(setAgent.run(state, seq, rest, sum, key).changes) === 1) return
    const { changes } = addAgent.run(key, id, runKey, role, machine, state, seq, rest, sum)
    if (Number(changes) !== 1) throw new Error(`row ${seq} of ${id} is older than what is stored`)
  }

  #writeRows(rows: readonly JournalRow[]): void {
    const { addRow, addRows } = this.#sql
    const whole = rows.length - (rows.length % ROWS_AT_ONCE)
    const several = new Array<SqlValue>(ROWS_AT_ONCE * ROW_COLUMNS)
    for (let first = 0; first < whole; first += ROWS_AT_ONCE) {
      for (let i = 0; i < ROWS_AT_ONCE; i += 1) {
        const row = rows[first + i] as JournalRow
        fillRow(several, i * ROW_COLUMNS, row, this.#steps.keyOf(row))
      }
      addRows.run(...several)
    }
    const single = new Array<SqlValue>(ROW_COLUMNS)
    for (let i = whole; i < rows.length; i += 1) {
      const row = rows[i] as JournalRow
      fillRow(single, 0, row, this.#steps.keyOf(row))
      addRow.run(...single)
    }
  }

  #writeOpenWork(batch: Batch): void {
    const sql = this.#sql
    for (const order of batch.inboxRemoved) sql.removeMail.run(order)
    for (const event of batch.inboxAdded) {
      const { order, agentKey, id, type, atMs, urgent, tries } = event
      const payload = JSON.stringify(event.payload)
      const sum = mailChecksum(event, payload)
      sql.addMail.run(order, agentKey, id, type, payload, atMs, urgent ? 1 : 0, tries, sum)
    }
    for (const id of batch.effectsRemoved) sql.removeEffect.run(id)
    for (const effect of batch.effectsAdded) {
      const { id, agent, kind, askedMs, phase } = effect
      const input = JSON.stringify(effect.input)
      const sum = effectChecksum(effect, input)
      sql.addEffect.run(id, agent, kind, input, askedMs, phaseNumber(phase), sum)
    }
    for (const { id, phase } of batch.effectPhases) sql.setPhase.run(phaseNumber(phase), id)
    for (const { agent, name } of batch.timersRemoved) sql.removeTimer.run(agent, name)
    for (const timer of batch.timersSet) {
      const { agent, name, epoch, dueMs } = timer
      sql.setTimer.run(agent, name, epoch, dueMs, timerChecksum(timer))
    }
    for (const closure of batch.closures) {
      sql.putClosure.run(closure.service, closure.untilMs, closureChecksum(closure))
    }
  }
}

function readNextDueMs(sql: Statements): number | null {
  return (sql.nextDue.get()?.due_ms ?? null) as number | null
}
