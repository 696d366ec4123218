import { describe, expect, test } from 'vitest'
import { MACHINES } from '../../src/machines/catalog.ts'
import { step } from '../../src/machines/step.ts'

const SUSPENDABLE: Record<string, string> = {
  'pm@1': 'WAITING INTERVIEWING DRAFTING PREVIEW SPEC_REVIEW REVISING',
  'architect@D': 'WAITING SCOPING DISPATCHING MONITORING REQUEST ESCALATED',
  'architect@I': 'WAITING SETUP DISPATCHING MONITORING REQUEST ESCALATED',
  'coder@D':
    'WAITING SETUP PLANNING PLAN_REVIEW CODING TESTING BUDGET_REVIEW CODE_REVIEW AWAIT_MERGE',
  'coder@F':
    'WAITING SETUP PLANNING PLAN_REVIEW CODING TESTING FIXING CODE_REVIEW BUDGET_REVIEW AWAIT_MERGE QUESTION',
  'coordinator@1': 'intake plan build review test iterate finalize',
  'ledger@1': 'OPEN SPENT',
  'dispatcher@1': 'OPEN CLOSED',
  'merge-queue@1': 'WAITING MERGING',
  'story@1': 'BLOCKED READY ASSIGNED FAILED MERGED WAIVED CUT',
  'coordinator@2': 'intake plan build review test iterate finalize',
}

describe.each(MACHINES)('$name', (machine) => {
  const suspendable = SUSPENDABLE[machine.name]?.split(' ') ?? []

  test('is suspended from every state but DONE and ERROR, and restored to where it was', () => {
    expect(suspendable).not.toHaveLength(0)
    for (const state of suspendable) {
      expect(step(machine, state, 'service_unavailable')).toBe('SUSPEND')
      expect(step(machine, 'SUSPEND', 'service_restored', state)).toBe(state)
    }
  })

  test('goes to ERROR when the suspension times out or the process goes down', () => {
    expect(step(machine, 'SUSPEND', 'suspension_timed_out')).toBe('ERROR')
    expect(step(machine, 'SUSPEND', 'channel_closed')).toBe('ERROR')
  })

  test.each(['DONE', 'ERROR', 'SUSPEND', null])('is not suspended from %s', (state) => {
    expect(step(machine, state, 'service_unavailable')).toBeUndefined()
    expect(step(machine, 'SUSPEND', 'service_restored', String(state))).toBeUndefined()
  })

  test('is not restored without knowing where to', () => {
    expect(step(machine, 'SUSPEND', 'service_restored')).toBeUndefined()
  })
})

test.each(MACHINES.filter((machine) => machine.id === 'coordinator'))(
  '$name can be aborted in every state, a suspended one included',
  (machine) => {
    const states = [...(SUSPENDABLE[machine.name]?.split(' ') ?? []), 'SUSPEND', 'ERROR']
    for (const state of states) {
      expect(step(machine, state, 'aborted_by_operator')).toBe('finalize')
      expect(step(machine, state, 'max_iterations_reached')).toBe('finalize')
    }
    expect(step(machine, null, 'aborted_by_operator')).toBeUndefined()
  },
)
