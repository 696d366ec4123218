import { expect, test } from 'vitest'
import type { AgentRecord, RunRecord } from '../../runtime/records.ts'
import { othersLine, readOthers } from './read-view.ts'
import type { RunSource } from './run-source.ts'

const agent = (role: string, state: string, data: object = {}) =>
  ({ key: 1, id: `r/${role}`, role, state, data }) as unknown as AgentRecord
const DRAFTING = [agent('pm', 'DRAFTING')]
const OVER = [agent('pm', 'DONE')]
const GIVEN_UP = [agent('coordinator@1', 'finalize', { outcome: 'canceled', awaits: null })]

/** Runs with how each is stored. */
function source(runs: readonly (readonly [string, string, readonly AgentRecord[]])[]): RunSource {
  return {
    runs: async () =>
      runs.map(([id, status]) => ({ id, status, config: {} }) as unknown as RunRecord),
    agents: async (run) => runs.find(([id]) => id === run)?.[2] ?? [],
    effects: async () => [],
    lastMs: async () => null,
    rows: async () => [],
  }
}

test('other runs are named as long as something may become of them', async () => {
  const runs = source([
    ['over', 'running', OVER],
    ['stopped', 'stopped', DRAFTING],
    ['given-up', 'running', GIVEN_UP],
    ['going', 'running', DRAFTING],
    ['this', 'running', DRAFTING],
  ])
  const others = await readOthers(runs, 'this')
  expect(othersLine(others)).toBe(
    'Also: stopped (stopped), going (running). slipway status <run> shows one.',
  )
  expect(othersLine([])).toBeUndefined()
})
