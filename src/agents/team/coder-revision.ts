import type { Move } from '../../machines/machine.ts'
import { coderD } from '../../machines/tables/coder-d.ts'
import { coderF } from '../../machines/tables/coder-f.ts'
import type { ResponseMessage } from './protocol.ts'

type MoveD<State extends keyof (typeof coderD)['states']> = Move<typeof coderD, State>
type MoveF<State extends keyof (typeof coderF)['states']> = Move<typeof coderF, State>

/** Where the two revisions of the coder part ways. Whatever is not here is the same in both. */
export interface CoderRevision {
  readonly machine: typeof coderD | typeof coderF
  /** Tools for which the machine has no row. */
  readonly withheld: readonly string[]
  /** The state in which what tests, a review or a merge showed is mended. */
  readonly mends: 'FIXING' | 'CODING'
  /** A claim that nothing is to be done: where it waits for the answer, and what a yes leads to. */
  readonly claim: MoveD<'PLANNING'> | null
  /** Planning that cannot go on. */
  readonly planningStuck: MoveD<'PLANNING'> | MoveF<'PLANNING'>
  readonly planningSpent: MoveD<'PLANNING'> | MoveF<'PLANNING'>
  /** A merge that is impossible for a reason other than a conflict. */
  readonly mergeFailed: MoveD<'AWAIT_MERGE'> | MoveF<'AWAIT_MERGE'>
  /** A review, or an answer, that nobody could give. */
  readonly unanswered: 'failed_unrecoverably' | 'abandoned'
  /** An idle coder whose way to get stories was lost; null where it stays. */
  readonly channelClosed: MoveD<'WAITING'> | null
  /** What a budget review leads to; `toOrigin` returns to the state that was left. */
  readonly budget: Readonly<
    Record<
      NonNullable<ResponseMessage['budget']>,
      'toOrigin' | MoveD<'BUDGET_REVIEW'> | MoveF<'BUDGET_REVIEW'>
    >
  >
  /** The decisions that its budget review knows. */
  readonly decisions: string
  /** Whether ERROR is left by a clean-up of its own, and not an end. */
  readonly cleansUpInError: boolean
}

const CODER_F: CoderRevision = {
  machine: coderF,
  withheld: [],
  mends: 'FIXING',
  claim: null,
  planningStuck: { event: 'question_asked', to: 'QUESTION' },
  planningSpent: { event: 'budget_exhausted', to: 'BUDGET_REVIEW' },
  mergeFailed: { event: 'merge_conflicted', to: 'FIXING' },
  unanswered: 'failed_unrecoverably',
  channelClosed: null,
  budget: {
    continue: 'toOrigin',
    pivot: 'toOrigin',
    // Revision F has no way back to planning but the one it came from.
    replan: 'toOrigin',
    escalate: { event: 'budget_escalated', to: 'CODE_REVIEW' },
    abandon: { event: 'abandoned', to: 'ERROR' },
  },
  decisions: 'continue, pivot, escalate, abandon',
  cleansUpInError: true,
}

const CODER_D: CoderRevision = {
  machine: coderD,
  withheld: ['ask_question'],
  mends: 'CODING',
  claim: { event: 'plan_submitted', to: 'PLAN_REVIEW' },
  planningStuck: { event: 'plan_submitted', to: 'PLAN_REVIEW' },
  planningSpent: { event: 'plan_submitted', to: 'PLAN_REVIEW' },
  mergeFailed: { event: 'merge_failed', to: 'ERROR' },
  unanswered: 'abandoned',
  channelClosed: { event: 'failed_unrecoverably', to: 'ERROR' },
  budget: {
    continue: { event: 'budget_granted', to: 'CODING' },
    pivot: { event: 'replan_ordered', to: 'PLANNING' },
    replan: { event: 'replan_ordered', to: 'PLANNING' },
    // Revision D has no way to a review from here: the work goes on and gets there by its tests.
    escalate: { event: 'budget_granted', to: 'CODING' },
    abandon: { event: 'abandoned', to: 'ERROR' },
  },
  decisions: 'continue, pivot, replan, abandon',
  cleansUpInError: false,
}

export const CODER_REVISIONS = { D: CODER_D, F: CODER_F } as const
