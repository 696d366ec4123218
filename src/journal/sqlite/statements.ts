import type { Database } from './driver.ts'
import { ROW_COLUMNS } from './rows.ts'

/** Rows that one statement writes: sixteen took a tenth less processor time than eight. */
export const ROWS_AT_ONCE = 16

const ROW = `(${Array(ROW_COLUMNS).fill('?')})`
const ADD_ROWS = `INSERT INTO journal
    (run, agent, agent_seq, at_ms, step, event_id, body, checksum)
  VALUES ${ROW}`

// Never an inner join: what is named and is not there is damage, and its row must not vanish.
const AGENT = `SELECT agents.*, runs.id AS run_id
  FROM agents LEFT JOIN runs ON runs.key = agents.run`

const OPEN_AGENTS = `SELECT open.agent AS named, agents.*, runs.id AS run_id
  FROM (SELECT agent FROM inbox UNION SELECT agent FROM effects UNION SELECT agent FROM timers)
    AS open
  LEFT JOIN agents ON agents.key = open.agent
  LEFT JOIN runs ON runs.key = agents.run`

const ROWS_OF_RUN = `SELECT journal.*, agents.id AS agent_id,
    kind, event_type, from_state, to_state, move, steps.checksum AS step_checksum
  FROM journal
  LEFT JOIN agents ON agents.key = journal.agent
  LEFT JOIN steps ON steps.key = journal.step
  WHERE journal.run = (SELECT key FROM runs WHERE id = ?) AND journal.seq > ?
  ORDER BY journal.seq LIMIT ?`

const LAST_MS_OF_RUN = `SELECT at_ms FROM journal
  WHERE run = (SELECT key FROM runs WHERE id = ?)
  ORDER BY seq DESC LIMIT 1`

/** Every statement that the journal uses, prepared once. */
export function prepareStatements(database: Database) {
  const prepare = (sql: string) => database.prepare(sql)
  return {
    begin: prepare('BEGIN IMMEDIATE'),
    commit: prepare('COMMIT'),
    rollback: prepare('ROLLBACK'),

    lastBatch: prepare(`SELECT value FROM meta WHERE key = 'last_batch'`),
    setLastBatch: prepare(
      `INSERT INTO meta VALUES ('last_batch', ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    ),

    putRun: prepare(
      `INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET status = excluded.status, checksum = excluded.checksum`,
    ),
    runs: prepare('SELECT * FROM runs ORDER BY key'),

    addAgent: prepare('INSERT OR IGNORE INTO agents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    setAgent: prepare(
      'UPDATE agents SET state = ?1, seq = ?2, rest = ?3, checksum = ?4 WHERE key = ?5 AND seq < ?2',
    ),
    agentById: prepare(`${AGENT} WHERE agents.id = ?`),
    agentsOfRun: prepare(`${AGENT} WHERE runs.id = ? ORDER BY agents.key`),
    openAgents: prepare(OPEN_AGENTS),
    agentsWithMail: prepare(
      `SELECT id FROM agents WHERE key IN (SELECT DISTINCT agent FROM inbox) ORDER BY key`,
    ),
    maxKeys: prepare(
      `SELECT (SELECT max(key) FROM agents) AS agent, (SELECT max(key) FROM runs) AS run,
              (SELECT max(place) FROM inbox) AS place`,
    ),

    steps: prepare(
      'SELECT steps.*, key AS step, checksum AS step_checksum FROM steps ORDER BY key',
    ),
    addStep: prepare('INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?)'),

    addRow: prepare(ADD_ROWS),
    addRows: prepare(ADD_ROWS + `, ${ROW}`.repeat(ROWS_AT_ONCE - 1)),
    ...readStatements(prepare),

    // One statement for many ids: at 100 agents this is a tenth of all work.
    accept: prepare('INSERT OR IGNORE INTO accepted SELECT value FROM json_each(?)'),
    // Looks each id up as it comes; `IN` sorts them first, which takes half as long again.
    accepted: prepare(
      `SELECT value AS event_id FROM json_each(?)
       WHERE EXISTS (SELECT 1 FROM accepted WHERE event_id = value)`,
    ),

    addMail: prepare('INSERT INTO inbox VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    removeMail: prepare('DELETE FROM inbox WHERE place = ?'),
    mailOfAgent: prepare(`SELECT inbox.*, ? AS agent_id FROM inbox WHERE agent = ? ORDER BY place`),

    addEffect: prepare('INSERT INTO effects VALUES (?, ?, ?, ?, ?, ?, ?)'),
    removeEffect: prepare('DELETE FROM effects WHERE id = ?'),
    setPhase: prepare('UPDATE effects SET waiting = ? WHERE id = ?'),
    effects: prepare(
      `SELECT effects.*, agents.id AS agent_id, runs.id AS run_id
       FROM effects
       LEFT JOIN agents ON agents.key = effects.agent LEFT JOIN runs ON runs.key = agents.run
       ORDER BY effects.asked_ms, effects.id`,
    ),

    ...timeStatements(prepare),
  }
}

/** What is waited for: timers, and services that asked to be left alone. */
function timeStatements(prepare: Database['prepare']) {
  return {
    setTimer: prepare('INSERT OR REPLACE INTO timers VALUES (?, ?, ?, ?, ?)'),
    removeTimer: prepare('DELETE FROM timers WHERE agent = ? AND name = ?'),
    dueTimers: prepare(
      `SELECT timers.*, agents.id AS agent_id
       FROM timers LEFT JOIN agents ON agents.key = timers.agent
       WHERE due_ms <= ? ORDER BY due_ms, timers.agent, name LIMIT ?`,
    ),
    nextDue: prepare('SELECT min(due_ms) AS due_ms FROM timers'),

    putClosure: prepare('INSERT OR REPLACE INTO closures VALUES (?, ?, ?)'),
    closures: prepare('SELECT * FROM closures ORDER BY service'),
  }
}

/** What is said of a run. */
function readStatements(prepare: Database['prepare']) {
  return {
    rowsOfRun: prepare(ROWS_OF_RUN),
    lastMsOfRun: prepare(LAST_MS_OF_RUN),
    lost: prepare(
      `SELECT event_id FROM accepted
       EXCEPT SELECT event_id FROM journal EXCEPT SELECT id FROM inbox LIMIT ?`,
    ),
  }
}

export type Statements = ReturnType<typeof prepareStatements>
