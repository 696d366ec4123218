import { awaitsOperator, type Outcome } from '../../agents/coordinator/protocol.ts'
import { taskWorkOf } from '../../agents/coordinator/task-work.ts'
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
  return STATUS[taskWorkOf(task).outcome as Outcome]
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
  const { outcome, isSpent } = taskWorkOf(task)
  if (!isTaskOver(task) || outcome === 'canceled') return EXIT_CODE.interrupted
  if (outcome === 'approved') return EXIT_CODE.done
  if (awaitsOperator(outcome) || outcome === 'proposal_changes_requested') return EXIT_CODE.waiting
  if (outcome?.startsWith('provider_')) return EXIT_CODE.provider
  return outcome === 'max_iterations_reached' && isSpent ? EXIT_CODE.budget : EXIT_CODE.failed
}
