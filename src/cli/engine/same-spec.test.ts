import { expect, test } from 'vitest'
import type { AgentRecord, RunRecord } from '../../runtime/records.ts'
import type { RunSource } from '../view/run-source.ts'
import { refuseSameSpec, refuseSpecOf } from './same-spec.ts'

const SPEC = '# Greeter\n\nIt greets.\n'

/** A run with one product manager, who was brought that. */
function source(status: string, state: string, brought: object, work: object = {}): RunSource {
  const settings = { target: 'main' }
  const data = { brought: { document: SPEC, isWish: false, settings, ...brought }, ...work }
  const pm = { key: 1, id: 'greeter-1/pm', role: 'pm', state, data } as unknown as AgentRecord
  return {
    runs: async () => [{ id: 'greeter-1', status, config: {} } as unknown as RunRecord],
    agents: async () => [pm],
    effects: async () => [],
    lastMs: async () => null,
    rows: async () => [],
  }
}

const NEW = { id: 'greeter-2', document: SPEC, target: 'main', isWish: false }

test.each([
  ['running', /as greeter-1\. slipway watch greeter-1 shows it, slipway stop greeter-1 ends it/],
  ['paused', /as greeter-1\. slipway resume greeter-1 goes on with it/],
])('a spec of a run that is %s is refused', async (status, message) => {
  const going = source(status, 'DRAFTING', {})
  await expect(refuseSameSpec(going, NEW)).rejects.toThrow(message)
  const spaced = { ...NEW, document: `${SPEC}\n` }
  await expect(refuseSameSpec(going, spaced)).rejects.toThrow(message)
})

test.each([
  ['a run that is stopped', source('stopped', 'DRAFTING', {}), NEW],
  ['a run that is over', source('running', 'DONE', {}), NEW],
  ['another spec', source('running', 'DRAFTING', { document: '# Greeter\n' }), NEW],
  ['another branch', source('running', 'DRAFTING', {}), { ...NEW, target: 'next' }],
  ['the run itself', source('running', 'DRAFTING', {}), { ...NEW, id: 'greeter-1' }],
  ['an interview', source('running', 'DRAFTING', {}), { ...NEW, isWish: true }],
])('%s is in the way of none', async (_, known, run) => {
  await refuseSameSpec(known, run)
})

const FURTHER = { id: 'greeter-1', document: SPEC, isWish: false }

test('a spec is not brought to a run that is at it', async () => {
  const at = refuseSpecOf(source('running', 'DRAFTING', {}), FURTHER)
  await expect(at).rejects.toThrow(/^The run greeter-1 is at this spec already\. slipway watch/)
})

test.each(['paused', 'stopped'])('nor to one that is %s, whatever it is', async (status) => {
  const resting = source(status, 'DRAFTING', {})
  const refusal = new RegExp(`^The run greeter-1 is ${status}\\. slipway resume greeter-1`)
  await expect(refuseSpecOf(resting, FURTHER)).rejects.toThrow(refusal)
  await expect(refuseSpecOf(resting, { ...FURTHER, isWish: true })).rejects.toThrow(refusal)
})

test('nor to a task, which has nobody who would build it', async () => {
  const task = {
    key: 1,
    id: 'greeter-1/coordinator',
    role: 'coordinator@2',
    state: 'plan',
    data: {},
  }
  const known = {
    ...source('running', 'DONE', {}),
    agents: async () => [task as unknown as AgentRecord],
  }
  await expect(refuseSpecOf(known, FURTHER)).rejects.toThrow(
    /^greeter-1 is a task\. slipway task --follow-up greeter-1 /,
  )
})

const FAILED = { failure: { reason: 'nobody answered', isOutage: false } }

test.each([
  ['another spec', source('running', 'DRAFTING', {}), { ...FURTHER, document: '# More\n' }],
  ['one of a run that is over', source('running', 'DONE', {}), FURTHER],
  ['one that was given up', source('running', 'ERROR', {}, FAILED), FURTHER],
  ['a wish', source('running', 'DRAFTING', {}), { ...FURTHER, isWish: true }],
])('%s is', async (_, known, spec) => {
  await refuseSpecOf(known, spec)
})
