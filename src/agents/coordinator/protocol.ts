import type { Mind } from '../thinking/assignment.ts'
import type { AgentId, Json } from '../values.ts'

/** What a coordinator is told from outside, and what its task is started with. Plain data. */

/** Whether a task is discussed before anything is changed, or done at once. */
export type TaskMode = 'proposal' | 'implementation'

/** The three who do a task. */
export type TaskRole = 'coder' | 'reviewer' | 'tester'

/** What a task was started with; a follow-up finds the same. */
export type TaskSettings = {
  readonly run: string
  /** The branch that the work is meant for. */
  readonly target: string
  readonly minds: Readonly<Record<TaskRole, Mind>>
  readonly limits: TaskLimits
  /** Beyond the workspace, the input of `run_tests`. */
  readonly tests: { readonly [key: string]: Json }
}

/** Every loop of a task is bounded by one of these. */
export type TaskLimits = {
  readonly planningTurns: number
  readonly codingTurns: number
  readonly fixingTurns: number
  readonly reviewTurns: number
  /** How often coder, reviewer and tester go round, anew after each follow-up. */
  readonly taskRounds: number
  /** How often tests may fail in the same way. */
  readonly sameFailures: number
}

/** Operator → coordinator, before anything else. */
export const TASK_BROUGHT = 'task_brought'
export type TaskBrought = Brought & { readonly settings: TaskSettings }

/** Operator → coordinator that is finished: there is more to do. */
export const FOLLOW_UP_BROUGHT = 'follow_up_brought'
export type Brought = {
  readonly text: string
  readonly mode: TaskMode
  /** Whether a proposal counts as confirmed once it is discussed. */
  readonly isConfirmed: boolean
}

/** Operator, or a task that was confirmed beforehand → coordinator: do what was proposed. */
export const PROPOSAL_CONFIRMED = 'proposal_confirmed'

/** Operator → coordinator: give it up, wherever it is. */
export const ABORT_WANTED = 'abort_wanted'

/** Where a task's work is kept, among what its run has. */
export const TASK_STORY = 'task'

/** The one who does the task of a run. */
export const coordinatorOf = (run: string) => `${run}/coordinator` as AgentId

/** How a task ended, by its document; both revisions together. */
export type Outcome =
  | 'await_operator_confirm'
  /** Read from historical tasks only. */
  | 'proposal_changes_requested'
  | 'approved'
  | 'review_schema_invalid'
  | 'tester_schema_invalid'
  | 'test_failed'
  | 'max_iterations_reached'
  | 'canceled'
  | 'discussion_complete'
  | 'provider_network_error'
  | 'provider_timeout'
  | 'provider_auth_error'

/** Whether the operator is to confirm what was proposed. */
export function awaitsOperator(outcome: Outcome | null): boolean {
  return outcome === 'await_operator_confirm' || outcome === 'discussion_complete'
}
