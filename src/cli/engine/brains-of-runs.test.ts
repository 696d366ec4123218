import { expect, test } from 'vitest'
import type { AgentRecord, RunRecord } from '../../runtime/records.ts'
import type { RunSource } from '../view/run-source.ts'
import { requireBrainsOfRuns } from './brains-of-runs.ts'

const minds = { pm: { brain: 'pm' }, coder: { brain: 'other' } }

/** A journal with one run, whose product manager is in that state. */
const sourceWith = (state: string, status = 'running'): RunSource => ({
  runs: async () => [{ id: 'r', status, config: { settings: { minds } } } as unknown as RunRecord],
  agents: async () => [
    { key: 1, id: 'r/pm', role: 'pm', state, halted: false, data: {} } as unknown as AgentRecord,
  ],
  effects: async () => [],
  lastMs: async () => null,
  rows: async () => [],
})

test('a run that thinks with what is not there is not gone on with', async () => {
  const source = sourceWith('DRAFTING')
  await expect(requireBrainsOfRuns(source, ['pm'])).rejects.toThrow(/r is not over.*: other\./)
  await expect(requireBrainsOfRuns(source, ['pm', 'other'])).resolves.toBeUndefined()
})

test.each(['stopped', 'paused'])(
  'one that is %s is not gone on with when it is named',
  async (status) => {
    const source = sourceWith('DRAFTING', status)
    await expect(requireBrainsOfRuns(source, ['pm'])).resolves.toBeUndefined()
    await expect(requireBrainsOfRuns(source, ['pm'], 'other')).resolves.toBeUndefined()
    await expect(requireBrainsOfRuns(source, ['pm'], 'r')).rejects.toThrow(/r is not over/)
  },
)

test('one that is over stands in nobody’s way', async () => {
  await expect(requireBrainsOfRuns(sourceWith('DONE'), ['pm'])).resolves.toBeUndefined()
})
