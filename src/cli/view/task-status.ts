import { awaitsOperator, type Outcome } from '../../agents/coordinator/protocol.ts'
import { type TaskWork, taskWorkOf } from '../../agents/coordinator/task-work.ts'
import type { AgentRecord, RunRecord } from '../../runtime/records.ts'
import { EXIT_CODE } from '../exit-code.ts'

/** Who does the task of a run; undefined where the run is a team's. */
export function findTask(agents: readonly AgentRecord[]): AgentRecord | undefined {
  return agents.find(({ role }) => role.startsWith('coordinator@'))
}

/** Whether a task rests: with its outcome, and with nothing under way. */
export function isTaskOver(task: AgentRecord): boolean {
  const { outcome, awaits } = taskWorkOf(task)
  return task.state === 'finalize' && outcome !== null && awaits === null
}

/** How a task stands, in the words that runs have for it. */
export function taskStatus(run: RunRecord, task: AgentRecord) {
  if (task.halted) return 'failed'
  if (!isTaskOver(task)) return run.status
  const { outcome, delivery } = taskWorkOf(task)
  return deliveryError(delivery) === undefined ? STATUS[outcome as Outcome] : 'failed'
}

/** Why work could not be handed in; undefined where it was, or was not to be. */
export function deliveryError(delivery: TaskWork['delivery']): string | undefined {
  return delivery !== null && 'error' in delivery ? delivery.error : undefined
}

const STATUS = {
  approved: 'done',
  await_operator_confirm: 'waiting',
  discussion_complete: 'waiting',
  // Of an older task: somebody has to say what becomes of it.
  proposal_changes_requested: 'waiting',
  canceled: 'stopped',
  review_schema_invalid: 'failed',
  tester_schema_invalid: 'failed',
  test_failed: 'failed',
  max_iterations_reached: 'failed',
  provider_network_error: 'failed',
  provider_timeout: 'failed',
  provider_auth_error: 'failed',
} as const satisfies Record<Outcome, string>

/** The exit code that says how a task ended; one that is under way was left. */
export function taskExitCode(task: AgentRecord): number {
  const { outcome, isSpent, cause, delivery } = taskWorkOf(task)
  if (task.halted) return EXIT_CODE.failed
  if (!isTaskOver(task) || outcome === 'canceled') return EXIT_CODE.interrupted
  if (outcome === 'approved') return deliveryExitCode(delivery)
  if (awaitsOperator(outcome) || outcome === 'proposal_changes_requested') return EXIT_CODE.waiting
  if (outcome?.startsWith('provider_') || cause !== null) return EXIT_CODE.provider
  return outcome === 'max_iterations_reached' && isSpent ? EXIT_CODE.budget : EXIT_CODE.failed
}

function deliveryExitCode(delivery: TaskWork['delivery']): number {
  if (delivery === null || !('error' in delivery)) return EXIT_CODE.done
  return delivery.cause === 'forge_refused' ? EXIT_CODE.provider : EXIT_CODE.failed
}
