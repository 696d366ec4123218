import { expect, test } from 'vitest'
import type { JournalReader } from '../../runtime/journal.ts'
import { findWantedWorkspaces } from './wanted-workspaces.ts'

const agent = (place: string, role: string, state: string, data: object = {}) =>
  ({ id: `r/${place}`, role, state, data }) as never
const ARCHITECTS = [
  agent('architect-1', 'architect@I', 'MONITORING', { request: null }),
  agent('architect-2', 'architect@I', 'REQUEST', { request: { id: 'q' } }),
]

test.each([
  [
    'of a run under way, everybody who may need one',
    'OPEN',
    ['architect-1.own', 'architect-2.own'],
  ],
  ['of a run without stories left, who is at a further spec', 'CLOSED', ['architect-2.own']],
])('%s', async (_, state, stories) => {
  const journal: Partial<JournalReader> = {
    readRuns: async () => [{ id: 'r' } as never],
    readAgents: async () => [agent('dispatcher', 'dispatcher', state), ...ARCHITECTS],
  }
  const wanted = await findWantedWorkspaces(journal as JournalReader)
  expect(wanted).toEqual(stories.map((story) => ({ run: 'r', story })))
})
