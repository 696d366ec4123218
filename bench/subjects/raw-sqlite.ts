import { join } from 'node:path'
import { openDatabase, type SqlValue } from '../../src/journal/sqlite/driver.ts'
import { migrate } from '../../src/journal/sqlite/migrate.ts'
import {
  prepareStatements,
  ROWS_AT_ONCE,
  type Statements,
} from '../../src/journal/sqlite/statements.ts'
import { type DurableSubject, keepWorking } from '../rounds.ts'
import { eventId } from './slipway.ts'
import { walker } from './walk.ts'

/** The pragmas of the journal: what every subject on this driver is opened with. */
export const PRAGMAS = `
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON`

// As long as what the runtime writes for the same walk.
const REST = '{}'
const CHECKSUM = 3_000_000_000
const STEP = 1

/**
 * The limit: the rows, snapshots and accepted ids of the same events, in the same schema through
 * the same prepared statements, `batchSize` events a transaction. No row is looked up, decided,
 * turned into JSON or checked.
 */
export async function openRawSqlite(
  folder: string,
  agents: number,
  batchSize: number,
): Promise<DurableSubject> {
  const path = join(folder, 'journal.db')
  const database = await openDatabase(path)
  database.exec(PRAGMAS)
  migrate(database, path)
  const sql = prepareStatements(database)
  const seqs = new Array<number>(agents).fill(1)
  sql.addStep.run(STEP, 'moved', 'advance', 'FIXING', 'TESTING', 'code_completed', CHECKSUM)
  sql.putRun.run(1, 'run-1', 'running', Date.now(), '{}', CHECKSUM)
  for (let agent = 0; agent < agents; agent += 1) addAgent(sql, agent)
  let number = 0

  const writeBatch = () => {
    sql.begin.run()
    const nowMs = Date.now()
    const ids: string[] = []
    for (let written = 0; written < batchSize; ) {
      const count = batchSize - written < ROWS_AT_ONCE ? 1 : ROWS_AT_ONCE
      const values: SqlValue[] = []
      for (let i = 0; i < count; i += 1) {
        const agent = number % agents
        number += 1
        const seq = (seqs[agent] ?? 0) + 1
        seqs[agent] = seq
        pushRow(values, agent, seq, nowMs, eventId(number))
        ids.push(eventId(number))
      }
      ;(count === 1 ? sql.addRow : sql.addRows).run(...values)
      written += count
    }
    sql.accept.run(JSON.stringify(ids))
    // A snapshot is written once a transaction, however many rows its agent has in it.
    for (let i = 0; i < Math.min(agents, batchSize); i += 1) {
      const agent = (number - 1 - i) % agents
      sql.setAgent.run('TESTING', seqs[agent] ?? 0, REST, CHECKSUM, agent + 1)
    }
    sql.commit.run()
  }

  return {
    run: async (roundMs) => keepWorking(roundMs, batchSize, writeBatch),
    async close() {
      database.close()
    },
  }
}

function addAgent(sql: Statements, agent: number): void {
  const { name, machine } = walker
  const key = agent + 1
  sql.addAgent.run(key, `agent-${agent}`, 1, name, machine.name, 'TESTING', 1, REST, CHECKSUM)
}

function pushRow(values: SqlValue[], agent: number, seq: number, atMs: number, id: string): void {
  values.push(1, agent + 1, seq, atMs, STEP, id, '{}', CHECKSUM)
}
