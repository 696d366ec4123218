import { setTimeout as sleep } from 'node:timers/promises'
import {
  ABORT_WANTED,
  awaitsOperator,
  type Brought,
  coordinatorOf,
  FOLLOW_UP_BROUGHT,
  PROPOSAL_CONFIRMED,
  TASK_BROUGHT,
  type TaskBrought,
  type TaskSettings,
} from '../../agents/coordinator/protocol.ts'
import { taskWorkOf } from '../../agents/coordinator/task-work.ts'
import { OPEN_BOOKS, OPEN_CALL } from '../../agents/ledger-keeper.ts'
import { ledgerOf } from '../../agents/team/protocol.ts'
import type { EventId, Json, RunId } from '../../agents/values.ts'
import type { LedgerLimits } from '../../ledger/ledger.ts'
import type { AgentRecord } from '../../runtime/records.ts'
import { UsageError } from '../usage-error.ts'
import { journalSource, type RunSource } from '../view/run-source.ts'
import { findTask, isTaskOver } from '../view/task-status.ts'
import { type Team, toldOnce } from './team.ts'

/** What one task is started with. */
export interface TaskStart {
  readonly id: string
  /** The user's repository, which is only read. */
  readonly repository: string
  readonly settings: TaskSettings
  readonly brought: Brought
  readonly revision: '1' | '2'
  readonly budget: LedgerLimits
}

type Ground = Pick<Team, 'runtime' | 'journal' | 'git' | 'repositories'>

/** Processes have some seconds to end; then they are ended. */
const END_MS_MAX = 20_000
const TAKE_MS_MAX = 3_000
const POLL_MS = 50

/** Starts a task, or finds it started: a run of its own with one who does it and one who counts. */
export async function startTask(
  { runtime, isolation, takeIn }: Pick<Team, 'runtime' | 'isolation' | 'takeIn'>,
  { id, repository, settings, brought, revision, budget }: TaskStart,
): Promise<void> {
  await takeIn(repository, settings.target)
  const run = id as RunId
  const config = { task: { revision }, settings: settings as unknown as Json }
  const coordinator = { id: coordinatorOf(id), role: `coordinator@${revision}` }
  // In one commit: what is killed meanwhile has started a whole task, or none.
  await runtime.createRun(run, { ...config, isolation: isolation.level }, [
    toldOnce(id, { id: ledgerOf(id), role: 'ledger' }, OPEN_BOOKS, budget),
    toldOnce(id, coordinator, TASK_BROUGHT, { ...brought, settings } satisfies TaskBrought),
  ])
}

/** Refuses a task that is under way already, in the same words; they are stored without secrets. */
export async function refuseSameTask(source: RunSource, text: string): Promise<void> {
  for (const { id } of await source.runs()) {
    const task = findTask(await source.agents(id))
    if (task === undefined || isTaskOver(task)) continue
    if (wordsOf(taskWorkOf(task).task) !== wordsOf(text)) continue
    throw new UsageError(
      `This task is under way as ${id}. slipway watch ${id} shows it, slipway stop ${id} ends it.`,
    )
  }
}

/** A text by its words alone. */
export function wordsOf(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}

/** Appends to a task that is over. */
export async function followUpTask(team: Ground, run: string, brought: Brought): Promise<void> {
  const task = await requireOver(journalSource(team.journal), run)
  await tellTask(team, task, FOLLOW_UP_BROUGHT, brought)
}

/** Has done what was proposed. */
export async function confirmTask(team: Ground, run: string): Promise<void> {
  const task = await requireProposal(journalSource(team.journal), run)
  await tellTask(team, task, PROPOSAL_CONFIRMED, null)
}

/** The task that waits for its proposal to be confirmed; any other is refused. */
export async function requireProposal(source: RunSource, run: string): Promise<AgentRecord> {
  const task = await requireOver(source, run)
  const { outcome } = taskWorkOf(task)
  if (awaitsOperator(outcome)) return task
  throw new UsageError(
    `${run} has nothing to confirm: it ended with ${outcome}. slipway task --follow-up ${run} "…" says more.`,
  )
}

/** Gives a task up, and waits until nothing of it is under way. False when the run is no task. */
export async function abortTask(team: Ground, run: string): Promise<boolean> {
  if (!(await giveUpTask(team, run))) return false
  await until(async () => (await team.journal.readEffects(run as RunId)).length === 0)
  return true
}

/**
 * Gives a task up, whatever it still has under way. False when the run is no task, or one of which
 * nobody was ever told what it is.
 */
export async function giveUpTask(
  { runtime, journal }: Pick<Ground, 'runtime' | 'journal'>,
  run: string,
): Promise<boolean> {
  const find = async () => findTask(await journal.readAgents(run as RunId))
  const task = await find()
  if (task === undefined) return false
  // One that was just begun is taken first: before that there is nothing to give up.
  if (task.state === null) {
    await runtime.resume(run as RunId)
    const isTaken = async () => ((await find()) ?? task).state !== null
    await until(isTaken, TAKE_MS_MAX)
    if (!(await isTaken())) return false
  }
  const id = `${task.id}:${ABORT_WANTED}:${crypto.randomUUID()}` as EventId
  await runtime.deliver({ id, agent: task.id, type: ABORT_WANTED, payload: null })
  // A run that rests handles nothing; this is the first thing that it does.
  await runtime.resume(run as RunId)
  await until(async () => isTaskOver((await find()) ?? task))
  await until(async () => (await journal.readAgents(run as RunId)).every(isSettled))
  return true
}

/** Nothing is set aside in its books, of whoever keeps some. */
function isSettled({ role, data }: AgentRecord): boolean {
  return role !== 'ledger' || !Object.keys(data).some((key) => key.startsWith(OPEN_CALL))
}

async function until(holds: () => Promise<boolean>, waitMs = END_MS_MAX): Promise<void> {
  const untilMs = Date.now() + waitMs
  while (!(await holds()) && Date.now() < untilMs) await sleep(POLL_MS)
}

/** The task that can be followed up; one that is under way is refused. */
export async function requireOver(source: RunSource, run: string): Promise<AgentRecord> {
  const task = findTask(await source.agents(run))
  if (task === undefined) throw new UsageError(`${run} is a run of a team, and no task.`)
  if (isTaskOver(task)) return task
  throw new UsageError(
    `${run} is under way, in ${task.state}. slipway watch ${run} shows it, slipway stop ${run} ends it.`,
  )
}

/** The same for whoever saw the task in the same state: the second of two is refused. */
async function tellTask(
  { runtime }: Ground,
  { id: agent, seq }: AgentRecord,
  type: string,
  payload: Brought | null,
): Promise<void> {
  const id = `${agent}:taken_up:${seq}` as EventId
  const taken = await runtime.deliver({ id, agent, type, payload })
  if (taken !== 'accepted') throw new UsageError('Somebody else took the task up at this moment.')
}
