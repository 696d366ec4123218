import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunId } from '../../agents/values.ts'
import { openSqliteJournal } from '../../journal/sqlite/sqlite-journal.ts'
import type { Batch } from '../../runtime/journal.ts'
import { type Control, serveControl } from '../engine/control.ts'
import { openSource } from './open-source.ts'
import { journalSource } from './run-source.ts'

let state: string

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'slipway-source-'))
})

afterEach(() => rmSync(state, { recursive: true, force: true }))

const NOTHING: Omit<Batch, 'id'> = {
  rows: [],
  runs: [],
  agents: [],
  inboxAdded: [],
  inboxRemoved: [],
  effectsAdded: [],
  effectsRemoved: [],
  effectPhases: [],
  timersSet: [],
  timersRemoved: [],
  closures: [],
  accepted: [],
}

const idsOf = (runs: readonly { readonly id: string }[]) => runs.map(({ id }) => id)

test('a look that an engine ends under goes on at the journal', async () => {
  const journal = await openSqliteJournal(state)
  const run = { key: 1, id: 'r' as RunId, status: 'running', createdMs: 1, config: {} } as const
  await journal.commit({ ...NOTHING, id: '1', runs: [run] })
  const server = await serveControl(state, journalSource(journal) as Control, null)
  const { source, close } = await openSource({ state })
  expect(idsOf(await source.runs())).toEqual(['r'])
  await server.close()
  await journal.close()
  expect(idsOf(await source.runs())).toEqual(['r'])
  expect(await source.agents('r')).toEqual([])
  expect(await source.rows('r', 0, 10)).toEqual([])
  await close()
})

test('what an engine could not do is no sign that it is gone', async () => {
  const failing = {
    runs: async () => [],
    agents: async () => {
      throw new Error('no such thing')
    },
  } as unknown as Control
  const server = await serveControl(state, failing, null)
  const { source } = await openSource({ state })
  await expect(source.agents('r')).rejects.toThrow('no such thing')
  await server.close()
})
