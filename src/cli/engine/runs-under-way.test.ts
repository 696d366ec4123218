import { expect, test } from 'vitest'
import type { AgentRecord, RunRecord } from '../../runtime/records.ts'
import type { RunSource } from '../view/run-source.ts'
import { RunsUnderWay } from './runs-under-way.ts'

const agent = (place: string, role: string, state: string, halted = false) =>
  ({ key: 1, id: `r/${place}`, role, state, halted, data: {} }) as unknown as AgentRecord

/** Runs by name, and how often the agents of each were read. */
function source(runs: Readonly<Record<string, readonly AgentRecord[]>>) {
  const reads: string[] = []
  const all: RunSource = {
    runs: async () =>
      Object.keys(runs).map(
        (id) => ({ id, status: 'running', config: {} }) as unknown as RunRecord,
      ),
    agents: async (id) => {
      reads.push(id)
      return runs[id] ?? []
    },
    effects: async () => [],
    lastMs: async () => null,
    rows: async () => [],
  }
  return { all, reads }
}

const DONE = [agent('pm', 'pm', 'DONE')]

test('runs that are over are read once in a while, others every time', async () => {
  const halted = [agent('pm', 'pm', 'DONE'), agent('coder-1', 'coder@F', 'CODING', true)]
  const { all, reads } = source({ over: DONE, going: [agent('pm', 'pm', 'DRAFTING')], halted })
  const runs = new RunsUnderWay(all)
  for (let i = 0; i < 3; i += 1) {
    expect((await runs.read()).map(({ run }) => run)).toEqual(['going', 'halted'])
  }
  expect(reads.filter((id) => id === 'over')).toHaveLength(1)
  expect(reads.filter((id) => id === 'going')).toHaveLength(3)
})
