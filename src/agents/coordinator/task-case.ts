import type { Move } from '../../machines/machine.ts'
import type { coordinator2 } from '../../machines/tables/coordinator-2.ts'
import { type AgentView, type Decision, type EffectRequest, effectIdOf } from '../role.ts'
import { bounded } from '../team/coder-work.ts'
import { joined } from '../team/decisions.ts'
import type { Assignment } from '../thinking/assignment.ts'
import { abandonThinking, beginThinking } from '../thinking/thinking.ts'
import type { BlobRef, JsonObject } from '../values.ts'
import type { Cause, CoordinatorRevision } from './coordinator-revision.ts'
import { type Outcome, TASK_STORY, type TaskRole } from './protocol.ts'
import { asRound, asTaskData, type Round, roundOf, type TaskWork } from './task-work.ts'

/** Said by a coordinator to itself, where the table has two steps and the world only one. */
export const GO_ON = 'go_on'

/** A row that leaves any state of the table; revision 1 has all but the losses of providers. */
export type TaskMove = Move<typeof coordinator2, keyof (typeof coordinator2)['states'] | null>

/** A coordinator at the moment of a decision. */
export interface TaskCase {
  readonly rules: CoordinatorRevision
  readonly agent: AgentView
  readonly work: TaskWork
  readonly atMs: number
}

const REASON_CHARS_MAX = 500

/** Has one of the three think about something in the state that the move leads to. */
export function think(
  c: TaskCase,
  who: TaskRole,
  task: string,
  move: TaskMove,
  variables: Readonly<Record<string, string | BlobRef>>,
  set: JsonObject = {},
): Decision {
  const { settings } = c.work
  const turnsMax = turnsOf(c, task)
  const assignment: Assignment = {
    task,
    withheld: [],
    state: move.to,
    story: TASK_STORY,
    workspace: { run: settings.run, story: TASK_STORY },
    variables: { task: taskText(c, task), ...filled(variables), turns: String(turnsMax) },
    turnsMax,
    ...(c.rules.knowsLosses && { isToldOfRefusal: true as const }),
  }
  const { decision } = beginThinking(c.agent, assignment, settings.minds[who])
  return joined(decision, { move, set: { ...set, malformed: null } })
}

/** Prompts without a place for what was added have it with the task: it is judged by both. */
function taskText({ work }: TaskCase, task: string): string {
  const isJudged = task === 'coordinator/review' || task === 'coordinator/test'
  return isJudged ? bounded([work.task, ...addedIn(work)].join('\n\n')) : work.task
}

const addedIn = ({ followUps }: TaskWork) =>
  followUps.map((text, i) => `The operator added (${i + 1}): ${text}`)

/** What is empty is left out of a prompt. */
function filled(variables: Readonly<Record<string, string | BlobRef>>) {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
}

function turnsOf({ work }: TaskCase, task: string): number {
  const { planningTurns, codingTurns, fixingTurns, reviewTurns } = work.settings.limits
  if (task === 'coordinator/propose') return planningTurns
  if (task !== 'coordinator/build') return reviewTurns
  return work.tries === 0 ? codingTurns : fixingTurns
}

/** Has something done besides thinking, and waits for its outcome. */
export function ask(c: TaskCase, decision: Decision, effect: EffectRequest): Decision {
  const set = asTaskData({ awaits: effectIdOf(c.agent, 0) })
  return joined(decision, { set, effects: [effect, ...(decision.effects ?? [])] })
}

/** Goes on by itself after the move. */
export function goOn(c: TaskCase, decision: Decision): Decision {
  return joined(decision, { send: [{ to: c.agent.id, type: GO_ON, payload: null }] })
}

/** What everybody is told of earlier rounds and of what the operator added. */
export function discussionOf(c: TaskCase): string {
  const { rounds } = c.work
  const said = Array.from({ length: rounds }, (_, i) => roundOf(c.agent, i + 1)).flatMap((round) =>
    round === undefined ? [] : saidIn(round),
  )
  return bounded([...said, ...addedIn(c.work)].join('\n\n'))
}

function saidIn({ number, proposal, reviewerSays, testerSays, cameTo }: Round): string[] {
  const parts = [
    proposal && `The coder proposed: ${proposal}`,
    reviewerSays && `The reviewer said: ${reviewerSays}`,
    testerSays && `The tester said: ${testerSays}`,
    cameTo && `It came to: ${cameTo}`,
  ].filter(Boolean)
  return parts.length === 0 ? [] : [`Round ${number}\n${parts.join('\n')}`]
}

/** The beginning of a round. */
export function beginRound(c: TaskCase, kind: Round['kind']): JsonObject {
  const number = c.work.rounds + 1
  const round: Round = { number, kind, startedMs: c.atMs, endedMs: null, cameTo: null }
  return { ...asTaskData({ rounds: number }), ...asRound(round) }
}

/** The round under way with more that is known of it. */
export function inRound(c: TaskCase, changed: Partial<Round>): JsonObject {
  const round = roundOf(c.agent, c.work.rounds)
  return round === undefined ? {} : asRound({ ...round, ...changed })
}

/** The end of the round under way; one that is over stays as it is. */
export function endRound(c: TaskCase, cameTo: string, changed: Partial<Round> = {}): JsonObject {
  if (roundOf(c.agent, c.work.rounds)?.endedMs !== null) return {}
  return inRound(c, { ...changed, cameTo, endedMs: c.atMs })
}

/** More about an end than its name says. */
interface Ending {
  readonly outcome: Outcome
  readonly why: string
  /** Whether a bound was reached. */
  readonly isSpent?: boolean
  readonly cause?: Cause | undefined
  readonly retry?: Decision['retry']
}

/** Ends the task for now: nothing of it stays under way, and what was done is stored. */
export function finalize(
  c: TaskCase,
  decision: Decision,
  event: Extract<TaskMove, { to: 'finalize' }>['event'],
  { outcome, why, isSpent = false, cause, retry }: Ending,
): Decision {
  const { settings } = c.work
  const told = { outcome, why: bounded(why, 4_000), isSpent, cause: cause ?? null }
  const given = asTaskData({ ...told, awaits: null })
  const over = endRound(c, outcome)
  const leaving = { kind: 'leave_workspace', input: { run: settings.run, story: TASK_STORY } }
  return {
    ...decision,
    move: { event, to: 'finalize' },
    set: { ...over, ...decision.set, ...given },
    effects: [...(decision.effects ?? []), leaving],
    reason: bounded(why === '' ? outcome : `${outcome}: ${why}`, REASON_CHARS_MAX),
    ...(retry && { retry: { ...retry, reason: bounded(retry.reason, REASON_CHARS_MAX) } }),
  }
}

/** Nothing leads on from here: what there is stays, on its branch. */
export function giveUp(
  c: TaskCase,
  decision: Decision,
  why: string,
  more: Pick<Ending, 'isSpent' | 'cause'> = {},
): Decision {
  const outcome = 'max_iterations_reached'
  return finalize(c, decision, 'max_iterations_reached', { outcome, why, ...more })
}

/** The end of whatever is under way, because the state is left for another reason. */
export function abandoned({ agent, work }: TaskCase): Decision {
  const decision = abandonThinking(agent)
  return {
    ...decision,
    cancel: [...(decision.cancel ?? []), ...(work.awaits ? [work.awaits] : [])],
  }
}
