import { expect, test } from 'vitest'
import { coordinator1 } from '../../src/machines/tables/coordinator-1.ts'
import { coordinator2 } from '../../src/machines/tables/coordinator-2.ts'
import { pairsOf } from './matrix.ts'

const DOCUMENT = [
  [null, 'task_received', 'intake'],
  ['finalize', 'task_followup_received', 'intake'],
  ['intake', 'draft_proposal', 'plan'],
  ['plan', 'roundtable_reviewer', 'review'],
  ['review', 'roundtable_tester', 'test'],
  ['test', 'await_operator_confirm', 'finalize'],
  ['intake', 'implementation_confirmed', 'plan'],
  ['plan', 'start_coder', 'build'],
  ['build', 'start_reviewer', 'review'],
  ['review', 'review_schema_invalid', 'finalize'],
  ['review', 'review_changes_requested', 'iterate'],
  ['review', 'review_approved', 'test'],
  ['test', 'tester_schema_invalid', 'iterate'],
  ['test', 'tests_failed', 'iterate'],
  ['test', 'tests_passed', 'finalize'],
  ['iterate', 'start_coder', 'build'],
  ['*', 'aborted_by_operator', 'finalize'],
  ['*', 'max_iterations_reached', 'finalize'],
]

const OUTCOMES = [
  'await_operator_confirm',
  'proposal_changes_requested',
  'approved',
  'review_schema_invalid',
  'tester_schema_invalid',
  'test_failed',
  'max_iterations_reached',
  'canceled',
]

test('coordinator@1 has the 18 rows of its document, in its order, and no other', () => {
  expect(DOCUMENT).toHaveLength(18)
  expect(coordinator1.transitions.map(({ from, event, to }) => [from, event, to])).toEqual(DOCUMENT)
  for (const row of coordinator1.transitions) expect(row).toHaveProperty('guard')
})

test('coordinator@1 has the states and the outcomes of its document', () => {
  expect(Object.keys(coordinator1.states)).toEqual(
    'intake plan build review test iterate finalize'.split(' '),
  )
  expect(Object.keys(coordinator1.outcomes)).toEqual(OUTCOMES)
  expect(coordinator1.date).toBe('2026-02-17')
})

test('coordinator@2 keeps the 18 rows, and its additions bring no new pair', () => {
  expect(coordinator2.transitions.slice(0, 18)).toEqual(coordinator1.transitions)
  expect(pairsOf(coordinator2.transitions)).toEqual(pairsOf(coordinator1.transitions))
})

test('coordinator@2 has the outcomes that its document recommends to add', () => {
  expect(Object.keys(coordinator2.outcomes)).toEqual([
    ...OUTCOMES,
    'discussion_complete',
    'provider_network_error',
    'provider_timeout',
    'provider_auth_error',
  ])
})
