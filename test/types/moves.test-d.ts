/**
 * The types come from the tables: a behaviour that answers with a state its table does not allow
 * does not compile. `tsc` checks this file; an `@ts-expect-error` that meets no error is one itself.
 */
import { expectTypeOf } from 'vitest'
import {
  defineMachine,
  type Move,
  type NextState,
  type StateOf,
} from '../../src/machines/machine.ts'
import { step } from '../../src/machines/step.ts'
import type { MachineTable } from '../../src/machines/table.ts'
import type { architectD } from '../../src/machines/tables/architect-d.ts'
import type { architectI } from '../../src/machines/tables/architect-i.ts'
import { coderD } from '../../src/machines/tables/coder-d.ts'
import type { coderF } from '../../src/machines/tables/coder-f.ts'
import type { coordinator1 } from '../../src/machines/tables/coordinator-1.ts'
import type { coordinator2 } from '../../src/machines/tables/coordinator-2.ts'
import type { pm1 } from '../../src/machines/tables/pm-1.ts'

/** Which states may follow each state, as the compiler sees it. */
type Followers<T extends MachineTable> = { [S in StateOf<T>]: NextState<T, S> }

/** A behaviour of state `S`, in the shape that matters here. */
type Behaviour<T extends MachineTable, S extends StateOf<T> | null> = () => Move<T, S>

expectTypeOf<Followers<typeof coderD>>().toEqualTypeOf<{
  WAITING: 'SETUP' | 'ERROR' | 'SUSPEND'
  SETUP: 'PLANNING' | 'ERROR' | 'SUSPEND'
  PLANNING: 'PLAN_REVIEW' | 'SUSPEND'
  PLAN_REVIEW: 'PLANNING' | 'CODING' | 'DONE' | 'ERROR' | 'SUSPEND'
  CODING: 'TESTING' | 'BUDGET_REVIEW' | 'ERROR' | 'SUSPEND'
  TESTING: 'CODING' | 'CODE_REVIEW' | 'SUSPEND'
  BUDGET_REVIEW: 'PLANNING' | 'CODING' | 'ERROR' | 'SUSPEND'
  CODE_REVIEW: 'CODING' | 'AWAIT_MERGE' | 'ERROR' | 'SUSPEND'
  AWAIT_MERGE: 'CODING' | 'DONE' | 'ERROR' | 'SUSPEND'
  DONE: never
  ERROR: never
  SUSPEND:
    | 'WAITING'
    | 'SETUP'
    | 'PLANNING'
    | 'PLAN_REVIEW'
    | 'CODING'
    | 'TESTING'
    | 'BUDGET_REVIEW'
    | 'CODE_REVIEW'
    | 'AWAIT_MERGE'
    | 'ERROR'
}>()

expectTypeOf<Followers<typeof coderF>>().toEqualTypeOf<{
  WAITING: 'SETUP' | 'SUSPEND'
  SETUP: 'PLANNING' | 'ERROR' | 'SUSPEND'
  PLANNING: 'PLAN_REVIEW' | 'BUDGET_REVIEW' | 'QUESTION' | 'DONE' | 'SUSPEND'
  PLAN_REVIEW: 'PLANNING' | 'CODING' | 'ERROR' | 'SUSPEND'
  CODING: 'TESTING' | 'BUDGET_REVIEW' | 'QUESTION' | 'ERROR' | 'SUSPEND'
  TESTING: 'FIXING' | 'CODE_REVIEW' | 'SUSPEND'
  FIXING: 'TESTING' | 'BUDGET_REVIEW' | 'QUESTION' | 'ERROR' | 'SUSPEND'
  CODE_REVIEW: 'FIXING' | 'AWAIT_MERGE' | 'ERROR' | 'SUSPEND'
  BUDGET_REVIEW: 'PLANNING' | 'CODING' | 'FIXING' | 'CODE_REVIEW' | 'ERROR' | 'SUSPEND'
  AWAIT_MERGE: 'FIXING' | 'DONE' | 'SUSPEND'
  QUESTION: 'PLANNING' | 'CODING' | 'FIXING' | 'ERROR' | 'SUSPEND'
  DONE: never
  ERROR: 'DONE'
  SUSPEND:
    | 'WAITING'
    | 'SETUP'
    | 'PLANNING'
    | 'PLAN_REVIEW'
    | 'CODING'
    | 'TESTING'
    | 'FIXING'
    | 'CODE_REVIEW'
    | 'BUDGET_REVIEW'
    | 'AWAIT_MERGE'
    | 'QUESTION'
    | 'ERROR'
}>()

expectTypeOf<Followers<typeof architectD>>().toEqualTypeOf<{
  WAITING: 'WAITING' | 'SCOPING' | 'SUSPEND'
  SCOPING: 'SCOPING' | 'DISPATCHING' | 'ERROR' | 'SUSPEND'
  DISPATCHING: 'DISPATCHING' | 'MONITORING' | 'DONE' | 'SUSPEND'
  MONITORING: 'MONITORING' | 'REQUEST' | 'SUSPEND'
  REQUEST: 'REQUEST' | 'MONITORING' | 'ESCALATED' | 'ERROR' | 'SUSPEND'
  ESCALATED: 'ESCALATED' | 'REQUEST' | 'ERROR' | 'SUSPEND'
  DONE: 'DONE' | 'WAITING'
  ERROR: 'ERROR' | 'WAITING'
  SUSPEND:
    | 'SUSPEND'
    | 'WAITING'
    | 'SCOPING'
    | 'DISPATCHING'
    | 'MONITORING'
    | 'REQUEST'
    | 'ESCALATED'
    | 'ERROR'
}>()

expectTypeOf<Followers<typeof architectI>>().toEqualTypeOf<{
  WAITING: 'WAITING' | 'SETUP' | 'ERROR' | 'SUSPEND'
  SETUP: 'SETUP' | 'REQUEST' | 'ERROR' | 'SUSPEND'
  DISPATCHING: 'DISPATCHING' | 'MONITORING' | 'DONE' | 'SUSPEND'
  MONITORING: 'MONITORING' | 'REQUEST' | 'ERROR' | 'SUSPEND'
  REQUEST: 'REQUEST' | 'WAITING' | 'MONITORING' | 'DISPATCHING' | 'ESCALATED' | 'ERROR' | 'SUSPEND'
  ESCALATED: 'ESCALATED' | 'REQUEST' | 'ERROR' | 'SUSPEND'
  DONE: 'DONE' | 'WAITING'
  ERROR: 'ERROR' | 'WAITING'
  SUSPEND:
    | 'SUSPEND'
    | 'WAITING'
    | 'SETUP'
    | 'DISPATCHING'
    | 'MONITORING'
    | 'REQUEST'
    | 'ESCALATED'
    | 'ERROR'
}>()

expectTypeOf<Followers<typeof pm1>>().toEqualTypeOf<{
  WAITING: 'INTERVIEWING' | 'DRAFTING' | 'ERROR' | 'SUSPEND'
  INTERVIEWING: 'DRAFTING' | 'ERROR' | 'SUSPEND'
  DRAFTING: 'PREVIEW' | 'INTERVIEWING' | 'ERROR' | 'SUSPEND'
  PREVIEW: 'SPEC_REVIEW' | 'REVISING' | 'ERROR' | 'SUSPEND'
  SPEC_REVIEW: 'DONE' | 'REVISING' | 'ERROR' | 'SUSPEND'
  REVISING: 'PREVIEW' | 'INTERVIEWING' | 'ERROR' | 'SUSPEND'
  DONE: never
  ERROR: 'DONE'
  SUSPEND:
    | 'WAITING'
    | 'INTERVIEWING'
    | 'DRAFTING'
    | 'PREVIEW'
    | 'SPEC_REVIEW'
    | 'REVISING'
    | 'ERROR'
}>()

interface CoordinatorFollowers {
  intake: 'plan' | 'finalize' | 'SUSPEND'
  plan: 'build' | 'review' | 'finalize' | 'SUSPEND'
  build: 'review' | 'finalize' | 'SUSPEND'
  review: 'test' | 'iterate' | 'finalize' | 'SUSPEND'
  test: 'iterate' | 'finalize' | 'SUSPEND'
  iterate: 'build' | 'finalize' | 'SUSPEND'
  finalize: 'intake' | 'finalize' | 'SUSPEND'
  ERROR: 'finalize'
  SUSPEND: 'intake' | 'plan' | 'build' | 'review' | 'test' | 'iterate' | 'finalize' | 'ERROR'
}
expectTypeOf<Followers<typeof coordinator1>>().toEqualTypeOf<CoordinatorFollowers>()
expectTypeOf<Followers<typeof coordinator2>>().toEqualTypeOf<CoordinatorFollowers>()
expectTypeOf<NextState<typeof coordinator1, null>>().toEqualTypeOf<'intake'>()

// A behaviour may answer with a row of its state, ...
export const legal = {
  coderD: (() => ({ event: 'plan_submitted', to: 'PLAN_REVIEW' })) satisfies Behaviour<
    typeof coderD,
    'PLANNING'
  >,
  coderF: (() => ({ event: 'tests_failed', to: 'FIXING' })) satisfies Behaviour<
    typeof coderF,
    'TESTING'
  >,
  architectD: (() => ({ event: 'merged', to: 'MONITORING' })) satisfies Behaviour<
    typeof architectD,
    'REQUEST'
  >,
  architectI: (() => ({ event: 'merged', to: 'DISPATCHING' })) satisfies Behaviour<
    typeof architectI,
    'REQUEST'
  >,
  pm: (() => ({ event: 'draft_submitted', to: 'PREVIEW' })) satisfies Behaviour<
    typeof pm1,
    'DRAFTING'
  >,
  coordinator1: (() => ({ event: 'start_reviewer', to: 'review' })) satisfies Behaviour<
    typeof coordinator1,
    'build'
  >,
  coordinator2: (() => ({ event: 'task_received', to: 'intake' })) satisfies Behaviour<
    typeof coordinator2,
    null
  >,
  suspended: (() => ({ event: 'service_unavailable', to: 'SUSPEND' })) satisfies Behaviour<
    typeof pm1,
    'DRAFTING'
  >,
}

// ... and with nothing else: not a state that the table does not allow from here,
export const illegal = {
  // @ts-expect-error PLANNING leads to PLAN_REVIEW alone
  coderD: (() => ({ event: 'plan_submitted', to: 'CODING' })) satisfies Behaviour<
    typeof coderD,
    'PLANNING'
  >,
  // @ts-expect-error TESTING has no way to ERROR
  coderF: (() => ({ event: 'failed_unrecoverably', to: 'ERROR' })) satisfies Behaviour<
    typeof coderF,
    'TESTING'
  >,
  // @ts-expect-error REQUEST never leads to DISPATCHING in revision D
  architectD: (() => ({ event: 'merged', to: 'DISPATCHING' })) satisfies Behaviour<
    typeof architectD,
    'REQUEST'
  >,
  // @ts-expect-error a merge does not lead to MONITORING in revision I
  architectI: (() => ({ event: 'merged', to: 'MONITORING' })) satisfies Behaviour<
    typeof architectI,
    'REQUEST'
  >,
  // @ts-expect-error the human looks at a draft before the architect does
  pm: (() => ({ event: 'draft_submitted', to: 'SPEC_REVIEW' })) satisfies Behaviour<
    typeof pm1,
    'DRAFTING'
  >,
  // @ts-expect-error a build is reviewed before it is tested
  coordinator1: (() => ({ event: 'tests_passed', to: 'test' })) satisfies Behaviour<
    typeof coordinator1,
    'build'
  >,
  // @ts-expect-error `*` does not stand for the time before the task
  coordinator2: (() => ({ event: 'provider_timeout', to: 'finalize' })) satisfies Behaviour<
    typeof coordinator2,
    null
  >,

  // ... not an event of another row,
  // @ts-expect-error tests_passed leads to CODE_REVIEW
  wrongEvent: (() => ({ event: 'tests_passed', to: 'FIXING' })) satisfies Behaviour<
    typeof coderF,
    'TESTING'
  >,
  // @ts-expect-error DONE is the end
  afterTheEnd: (() => ({ event: 'story_assigned', to: 'SETUP' })) satisfies Behaviour<
    typeof coderF,
    'DONE'
  >,
  // @ts-expect-error DONE cannot be suspended
  suspendedEnd: (() => ({ event: 'service_unavailable', to: 'SUSPEND' })) satisfies Behaviour<
    typeof coderF,
    'DONE'
  >,
}

// What `step` answers is a state of that machine.
expectTypeOf(step(coderD, 'WAITING', 'story_assigned')).toEqualTypeOf<
  StateOf<typeof coderD> | undefined
>()

// A table cannot name a state that it does not declare.
const sound = {
  id: 'x',
  revision: '1',
  date: '2026-01-01',
  title: 'x',
  initial: 'A',
  terminal: ['B'],
  states: { A: 'x', B: 'x' },
  transitions: [{ from: 'A', event: 'merged', to: 'B' }],
} as const
defineMachine(sound)
// @ts-expect-error C is not declared
defineMachine({ ...sound, transitions: [{ from: 'A', event: 'merged', to: 'C' }] })
// @ts-expect-error C is not declared
defineMachine({ ...sound, transitions: [{ from: 'C', event: 'merged', to: 'B' }] })
// @ts-expect-error C is not declared
defineMachine({ ...sound, initial: 'C' })
// @ts-expect-error C is not declared
defineMachine({ ...sound, terminal: ['C'] })
// @ts-expect-error the event is not in the vocabulary
defineMachine({ ...sound, transitions: [{ from: 'A', event: 'merged_somehow', to: 'B' }] })
