import { expect, test } from 'vitest'
import { asRound, type Round } from '../../agents/coordinator/task-work.ts'
import type { AgentRecord, EffectRecord, RunRecord } from '../../runtime/records.ts'
import { viewRun } from './run-view.ts'

const RUN = { id: 'r', status: 'running', createdMs: 0, config: {} } as unknown as RunRecord

test.each([
  ['SUSPEND', '529 overloaded', 7],
  // What it was suspended for last is no news.
  ['DRAFTING', null, null],
])('of an agent in %s the outage is %s', (state, outage, outageUntilMs) => {
  const data = { $outage: { reason: '529 overloaded', tries: 4, untilMs: 7 } }
  const pm = { id: 'r/pm', key: 1, role: 'pm', state, data, generation: 1, halted: false }
  const { agents } = viewRun(RUN, [pm as unknown as AgentRecord], [], null)
  expect(agents).toMatchObject([{ id: 'pm', outage, outageUntilMs }])
})

test('of each agent it is known for whom it waits', () => {
  const record = (place: string, data: object) =>
    ({ id: `r/${place}`, role: place, state: 'S', data }) as unknown as AgentRecord
  const agents = [
    record('architect-1', { request: { id: 'q1' } }),
    record('coder-1', { pending: { id: 'q1' } }),
    record('coder-2', { pending: { id: 'q2' } }),
    record('coder-3', {}),
  ]
  const question = { id: 'e', agentId: 'r/architect-1', kind: 'ask_human', input: {} }
  const view = viewRun(RUN, agents, [question as unknown as EffectRecord], null)
  expect(view.agents.map(({ id, waitsFor }) => [id, waitsFor])).toEqual([
    ['architect-1', 'human'],
    ['coder-1', 'architect-1'],
    ['coder-2', 'architect'],
    ['coder-3', null],
  ])
})

test.each([
  ['running', null],
  ['paused', 5_000],
  ['stopped', 5_000],
] as const)('the time of a run that is %s ends at %s', (status, endedMs) => {
  expect(viewRun({ ...RUN, status }, [], [], 5_000)).toMatchObject({ status, endedMs })
})

test('the time of a task ends with its last round, whenever its books are closed', () => {
  const round = { number: 1, kind: 'implementation', startedMs: 0, endedMs: 3_000, cameTo: null }
  const data = { task: 't', rounds: 1, outcome: 'canceled', ...asRound(round as Round) }
  const record = { id: 'r/coordinator', role: 'coordinator@2', state: 'finalize', data }
  const { endedMs } = viewRun(RUN, [record as unknown as AgentRecord], [], 86_400_000)
  expect(endedMs).toBe(3_000)
})
