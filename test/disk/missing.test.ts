import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AgentId } from '../../src/agents/values.ts'
import { openDatabase } from '../../src/journal/sqlite/driver.ts'
import {
  openSqliteJournal,
  openSqliteJournalReader,
} from '../../src/journal/sqlite/sqlite-journal.ts'
import type { Journal, JournalReader } from '../../src/runtime/journal.ts'
import { replay } from '../../src/runtime/replay.ts'
import { agentOf, batchOf, effectOf, mailOf, RUN, rowOf, runOf } from '../conformance/batches.ts'
import { makeFolder } from './state.ts'

let folder: string
let remove: () => void

beforeEach(async () => {
  ;({ folder, remove } = makeFolder())
  const journal = await openSqliteJournal(folder)
  const rows = [1, 2, 3, 4].map((key) =>
    rowOf(agentOf(key), { kind: 'born', to: 'WAITING', eventType: `type ${key}` }),
  )
  const agents = rows.map(({ agent }) => agent)
  const accepted = rows.map(({ row }) => row.eventId)
  const born = { agents, rows: rows.map(({ row }) => row), accepted }
  await journal.commit(batchOf({ runs: [runOf()], ...born }))
  const [first, second, third] = agents as [
    (typeof agents)[0],
    (typeof agents)[0],
    (typeof agents)[0],
  ]
  const timer = { agent: third.key, agentId: third.id, name: 'nap', epoch: 2, dueMs: 100 }
  await journal.commit(
    batchOf({
      inboxAdded: [mailOf(first, 1)],
      effectsAdded: [effectOf(second, 'agent-2:1.0')],
      timersSet: [timer],
    }),
  )
  await journal.close()
})

afterEach(() => remove())

/** Takes something out of the database, as no version of ours does. */
async function take(sql: string): Promise<void> {
  const database = await openDatabase(join(folder, 'journal.db'))
  database.exec(`PRAGMA foreign_keys = OFF; ${sql}`)
  database.close()
}

async function read<J extends JournalReader>(
  open: (folder: string) => Promise<J>,
  look: (journal: J) => Promise<unknown>,
): Promise<unknown> {
  const journal = await open(folder)
  try {
    return await look(journal)
  } finally {
    await journal.close()
  }
}

const recover = (journal: Journal) => journal.recover()

test('what is whole is read', async () => {
  await read(openSqliteJournal, recover)
  const { rows, differences } = (await read(openSqliteJournalReader, (journal) =>
    replay(journal, RUN),
  )) as Awaited<ReturnType<typeof replay>>
  expect({ rows, differences }).toEqual({ rows: 4, differences: [] })
})

describe('a start refuses', () => {
  test.each([
    ['mail to an agent that is not there', 1],
    ['an effect of an agent that is not there', 2],
    ['a timer of an agent that is not there', 3],
  ])('%s', async (_, key) => {
    await take(`DELETE FROM agents WHERE key = ${key}`)
    await expect(read(openSqliteJournal, recover)).rejects.toMatchObject({
      fault: 'damaged',
      message: expect.stringContaining(`agent ${key} is missing, and open work names it. Keep a`),
    })
  })

  test('open work of an agent that is damaged', async () => {
    await take(`UPDATE agents SET state = 'DONE' WHERE key = 3`)
    await expect(read(openSqliteJournal, recover)).rejects.toThrow('agent agent-3 is damaged')
  })

  test('an agent of a run that is not there', async () => {
    await take('DELETE FROM runs')
    await expect(read(openSqliteJournal, recover)).rejects.toThrow(
      'run 1 is missing, and agent agent-1 names it',
    )
  })

  test('to take an agent for new whose run is not there', async () => {
    await take('DELETE FROM runs')
    const load = (journal: Journal) => journal.loadAgents(['agent-4' as AgentId])
    await expect(read(openSqliteJournal, load)).rejects.toThrow('run 1 is missing')
  })
})

describe('a reader refuses', () => {
  test('a row of an agent that is not there', async () => {
    await take('DELETE FROM agents WHERE key = 4')
    await expect(read(openSqliteJournalReader, (j) => replay(j, RUN))).rejects.toThrow(
      'agent 4 is missing, and row 4 names it',
    )
  })

  test('a row of a step that is not there', async () => {
    await take('DELETE FROM steps WHERE key = 2')
    await expect(read(openSqliteJournalReader, (j) => replay(j, RUN))).rejects.toThrow(
      'step 2 is missing, and row 2 names it',
    )
  })

  test('an effect of an agent that is not there', async () => {
    await take('DELETE FROM agents WHERE key = 2')
    await expect(read(openSqliteJournalReader, (j) => j.readEffects(RUN))).rejects.toThrow(
      'agent 2 is missing, and effect agent-2:1.0 names it',
    )
  })
})

test('a step that is new never gets the number of one that is lost', async () => {
  await take('DELETE FROM steps WHERE key = 2')
  const next = rowOf(rowOf(agentOf(1)).agent, { eventType: 'new' })
  const write = (journal: Journal) =>
    journal.commit(batchOf({ rows: [next.row], agents: [next.agent] }))
  await expect(read(openSqliteJournal, write)).rejects.toThrow('step 2 is missing')
})
