import { expect, test } from 'vitest'
import type { AgentId, JsonObject, RunId } from '../../agents/values.ts'
import type { AgentRecord } from '../../runtime/records.ts'
import { rescueOf } from './rescue.ts'

const halted = (place: string, role: string, data: object): AgentRecord => ({
  key: 1,
  id: `run/${place}` as AgentId,
  run: 'run' as RunId,
  runKey: 1,
  role,
  machine: role,
  state: 'REQUEST',
  origin: null,
  suspendedFrom: null,
  data: data as JsonObject,
  seq: 9,
  generation: 1,
  bornSeq: 1,
  halted: true,
  timers: {},
  recycling: null,
  restartsMs: [],
})

test('whoever asked a halted architect asks again', () => {
  const request = { id: 'x', from: 'run/coder-1' }
  expect(rescueOf(halted('architect-1', 'architect@I', { request }))).toEqual([
    { agent: 'run/coder-1', type: 'channel_closed', payload: null },
  ])
  expect(rescueOf(halted('architect-1', 'architect@D', {}))).toEqual([])
})

test('a halted product manager is brought its document again', () => {
  const brought = { document: 'Greet.' }
  expect(rescueOf(halted('pm', 'pm', { brought }))).toEqual([
    { agent: 'run/pm', type: 'spec_brought', payload: brought },
  ])
})

test('the story of a halted coder has had an attempt; without a story nobody is told', () => {
  const work = { story: { id: 'a' }, settings: { run: 'run' } }
  const rescue = rescueOf(halted('coder-1', 'coder@F', { isAtWork: true, work, tests: 'red' }))
  expect(rescue).toMatchObject([
    {
      agent: 'run/story/a',
      type: 'story_ended',
      payload: { end: { kind: 'failed', isCharged: true, lesson: { failures: 'red' } } },
    },
  ])
  expect(rescueOf(halted('coder-1', 'coder@F', {}))).toEqual([])
})

test.each(['dispatcher', 'ledger', 'merge-queue', 'story'])(
  'a halted %s is not revived: what it knows cannot be made up',
  (role) => {
    expect(rescueOf(halted(role, role, {}))).toBeUndefined()
  },
)
