import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { agentOf, batchOf, effectOf, RUN, rowOf, runOf } from './batches.ts'

test('a step that a failed batch said first is stored by the next one that says it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-steps-'))
  const journal = await openSqliteJournal(folder)
  try {
    const born = rowOf(agentOf(1), { kind: 'born', to: 'WAITING' })
    await journal.commit(batchOf({ runs: [runOf()], agents: [born.agent], rows: [born.row] }))
    const next = rowOf(born.agent, { eventType: 'never said before' })
    const batch = { rows: [next.row], agents: [next.agent] }
    // After the rows are written: nobody has asked for this effect.
    const wrong = { ...effectOf(next.agent, 'e1'), agent: 99 }
    await expect(journal.commit(batchOf({ ...batch, effectsAdded: [wrong] }))).rejects.toThrow()
    await journal.commit(batchOf(batch))
    const [, stored] = await journal.readRows(RUN, 0, 10)
    expect(stored).toMatchObject({ eventType: 'never said before', agentSeq: next.row.agentSeq })
  } finally {
    await journal.close()
    rmSync(folder, { recursive: true })
  }
})
