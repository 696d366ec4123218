import {
  type Round,
  roundOf,
  type TaskWork,
  taskWorkOf,
} from '../../agents/coordinator/task-work.ts'
import type { RunId } from '../../agents/values.ts'
import { findMachine } from '../../machines/catalog.ts'
import type { AgentRecord, StoredRow } from '../../runtime/records.ts'
import type { RunSource } from './run-source.ts'
import { findTask, taskStatus } from './task-status.ts'

/** A task as people see it, round by round, made of what is stored and nothing else. */
export interface TaskView {
  readonly task: string
  readonly text: string
  readonly followUps: readonly string[]
  readonly machine: string
  readonly state: string
  readonly status: string
  readonly mode: TaskWork['mode']
  readonly outcome: string | null
  /** What it means: the words of the machine's document, or the cause where those say another. */
  readonly meaning: string
  readonly why: string
  readonly target: string
  /** Where the work is: a branch of the repository for work in the state folder. */
  readonly branch: string | null
  readonly head: string | null
  readonly base: string | null
  readonly delivery: TaskWork['delivery']
  readonly rounds: readonly Round[]
  readonly transitions: readonly TransitionView[]
}

interface TransitionView {
  readonly at: string
  readonly from: string | null
  readonly event: string | null
  readonly to: string | null
  readonly reason?: string
  readonly retry_count?: number
  readonly retry_reason?: string
}

const PAGE_ROWS = 2_000

/** Reads a task; undefined where the run is a team's. */
export async function readTask(source: RunSource, run: string): Promise<TaskView | undefined> {
  const [runs, agents] = await Promise.all([source.runs(), source.agents(run)])
  const record = runs.find(({ id }) => id === (run as RunId))
  const task = findTask(agents)
  if (record === undefined || task === undefined) return undefined
  return viewTask(task, taskStatus(record, task), await readMoves(source, task))
}

async function readMoves(source: RunSource, { id, run }: AgentRecord): Promise<StoredRow[]> {
  const moves: StoredRow[] = []
  let afterSeq = 0
  for (;;) {
    const rows = await source.rows(run, afterSeq, PAGE_ROWS)
    moves.push(...rows.filter(({ agentId, kind }) => agentId === id && kind === 'moved'))
    afterSeq = rows.at(-1)?.seq ?? afterSeq
    if (rows.length < PAGE_ROWS) return moves
  }
}

export function viewTask(
  agent: AgentRecord,
  status: string,
  moves: readonly StoredRow[],
): TaskView {
  const work = taskWorkOf(agent)
  const { outcome, place } = work
  return {
    task: agent.run,
    text: work.task,
    followUps: work.followUps,
    machine: agent.machine,
    state: agent.state ?? 'null',
    status,
    mode: work.mode,
    outcome,
    meaning: meaningOf(agent.machine, work),
    why: work.why,
    // Of one that was begun and is not taken yet, nothing is known.
    target: (work.settings as TaskWork['settings'] | undefined)?.target ?? '',
    branch: place?.branch ?? null,
    head: work.head,
    base: place?.base ?? null,
    delivery: work.delivery,
    rounds: Array.from({ length: work.rounds }, (_, i) => roundOf(agent, i + 1)).flatMap(
      (round) => round ?? [],
    ),
    transitions: moves.map(viewMove),
  }
}

const LOST: Readonly<Record<string, string>> = {
  ...findMachine('coordinator@2')?.outcomes,
  forge_lost: 'The forge could not be reached.',
  forge_refused: 'The forge refused the credentials.',
}

/** The table has one row for every end without a name; what is spent is only one of them. */
function meaningOf(machine: string, { outcome, isSpent, cause }: TaskWork): string {
  if (outcome === null) return ''
  if (outcome !== 'max_iterations_reached' || isSpent) {
    const meanings: Readonly<Record<string, string>> = findMachine(machine)?.outcomes ?? {}
    return meanings[outcome] ?? ''
  }
  return LOST[cause ?? ''] ?? 'The task could not go on.'
}

function viewMove({ atMs, from, move, to, body }: StoredRow): TransitionView {
  const { reason, retry } = body
  return {
    at: new Date(atMs).toISOString(),
    from,
    event: move,
    to,
    ...(reason !== undefined && { reason }),
    ...(retry !== undefined && { retry_count: retry.count, retry_reason: retry.reason }),
  }
}
