import type { Exhausted } from '../../ledger/limits.ts'
import type { AgentView, Decision, EffectRequest, Message } from '../role.ts'
import type { Assignment } from '../thinking/assignment.ts'
import { beginThinking, resumeThinking, turnsLeft } from '../thinking/thinking.ts'
import type { BlobRef, Json, JsonObject } from '../values.ts'
import type { CoderRevision } from './coder-revision.ts'
import {
  addRemarks,
  asData,
  bounded,
  type CoderWork,
  type Fix,
  lessonsText,
  storyVariables,
} from './coder-work.ts'
import type { MoveTo } from './decisions.ts'
import {
  type Ask,
  dispatcherOf,
  type Lesson,
  REQUEST_WAITING,
  type RequestMessage,
  type RequestWaiting,
  STORY_ENDED,
  type StoryEnded,
  storyAgentOf,
} from './protocol.ts'

/** A coder at the moment of a decision, and what it can do about anything. */
export interface CoderCase {
  readonly rules: CoderRevision
  readonly agent: AgentView
  readonly work: CoderWork
}

const PROGRESS =
  'what you changed before is in the workspace. Look at that first: git status names the files, git diff shows what changed in those that were there before.'

/** Begins to think about something in the state that the move leads to. */
export function think(
  c: CoderCase,
  task: string,
  move: MoveTo | undefined,
  variables: Readonly<Record<string, string | BlobRef>>,
  set: JsonObject = {},
): Decision {
  const { work } = c.work
  const state = move?.to ?? c.agent.state ?? ''
  const turnsMax = turnsOf(c, state)
  const lessons = lessonsText(work.lessons)
  const isCoding = task === 'coder/coding'
  const takesLessons = task === 'coder/planning' || isCoding
  const assignment: Assignment = {
    task,
    withheld: c.rules.withheld,
    state,
    story: work.story.id,
    workspace: { run: work.settings.run, story: work.story.id },
    variables: {
      ...storyVariables(c.work, turnsMax),
      ...(takesLessons && lessons !== '' && { lessons }),
      ...(isCoding && c.work.isBegun && { progress: PROGRESS }),
      ...(c.work.answers !== '' && { answer: c.work.answers }),
      ...variables,
    },
    turnsMax,
  }
  const { decision } = beginThinking(c.agent, assignment, work.settings.minds.coder)
  const begun = isCoding ? asData({ isBegun: true }) : {}
  const all = { ...decision, set: { ...decision.set, ...begun, ...set } }
  return move === undefined ? all : { ...all, move }
}

export function turnsOf(c: CoderCase, state: string): number {
  const { planningTurns, codingTurns, fixingTurns } = c.work.work.settings.limits
  if (state === 'PLANNING') return planningTurns
  return state === 'FIXING' ? fixingTurns : codingTurns
}

export function thinkFix(
  c: CoderCase,
  fix: Fix,
  move: MoveTo | undefined,
  told: Readonly<Record<string, string>>,
  set: JsonObject,
): Decision {
  const { plan, diff } = c.work
  const known = { ...(plan !== '' && { plan }), ...(diff && { diff }) }
  const text = bounded(fix.text)
  if (fix.kind === 'tests') {
    const { earlier } = fix
    const failing = { failures: text, ...(earlier !== undefined && { earlier }) }
    return think(c, 'coder/fixing-tests', move, { ...known, ...told, ...failing }, set)
  }
  if (fix.kind === 'review') {
    return think(c, 'coder/fixing-review', move, { ...known, ...told, remarks: text }, set)
  }
  const { plan: _, ...rest } = known as { plan?: string; diff?: BlobRef }
  return think(c, 'coder/fixing-conflict', move, { ...rest, ...told, conflict: text }, set)
}

/** Goes on with the same conversation, with so many turns or with those that are left. */
export function resume(
  c: CoderCase,
  move: MoveTo,
  message: string,
  turnsMax = Math.max(1, turnsLeft(c.agent)),
): Decision {
  return { ...resumeThinking(c.agent, message, turnsMax).decision, move }
}

/** Sends a request, and remembers which answer is waited for. */
export function request(
  c: CoderCase,
  decision: Decision,
  move: MoveTo | undefined,
  what: Ask,
  cause?: Exhausted,
): Decision {
  const { story, settings } = c.work.work
  const { id: from, seq } = c.agent
  const id = `${from}#${seq + 1}`
  const asked = { id, from, story, settings, ask: what }
  const pending: RequestMessage = cause === undefined ? asked : { ...asked, cause }
  const payload = { request: id, from } satisfies RequestWaiting
  const waiting: Message = { to: dispatcherOf(settings.run), type: REQUEST_WAITING, payload }
  const all: Decision = {
    ...decision,
    set: { ...decision.set, ...asData({ pending }) },
    send: [...(decision.send ?? []), waiting],
  }
  return move === undefined ? all : { ...all, move }
}

export function commit(c: CoderCase): EffectRequest {
  const { story, settings } = c.work.work
  return {
    kind: 'checkpoint',
    input: { run: settings.run, story: story.id, message: story.title },
  }
}

export function fail(c: CoderCase, move: MoveTo, reason: string, also: Decision = {}): Decision {
  const over = ending(c, reason, true)
  return {
    ...also,
    ...over,
    move,
    reason: bounded(reason, 500),
    send: [...(also.send ?? []), ...(over.send ?? [])],
  }
}

/** Nobody decided what was asked for. */
export function failUnanswered(c: CoderCase, feedback: string): Decision {
  return fail(c, { event: c.rules.unanswered, to: 'ERROR' }, `it was not decided: ${feedback}`)
}

/** In ERROR already, because a suspension timed out. */
export function cleanUp(c: CoderCase, reason: string, isCharged: boolean): Decision {
  return c.agent.state === 'ERROR' ? ending(c, reason, isCharged) : { reason: 'not in ERROR' }
}

function ending(c: CoderCase, reason: string, isCharged: boolean): Decision {
  const { work, tests, diff, failure } = c.work
  const { story, settings } = work
  const lesson: Lesson = {
    reason: bounded(reason, 2_000),
    fingerprint: failure ?? reason.slice(0, 200),
    failures: failure === null ? '' : bounded(tests ?? '', 8_000),
    diff: diff ?? null,
  }
  const end = { kind: 'failed', lesson, isCharged } as const
  const payload = { coder: c.agent.id, end } as unknown as Json
  return { send: [{ to: storyAgentOf(settings.run, story.id), type: STORY_ENDED, payload }] }
}

/** A plan, or the claim that none is needed, has to be thought over; not for ever. */
export function sendBack(c: CoderCase, remarks: string, failures = ''): Decision {
  const { plan, counts, work, earlier } = c.work
  const planRounds = counts.planRounds + 1
  if (planRounds >= work.settings.limits.planRounds) {
    const reason = `the plan was sent back ${planRounds} times: ${remarks}`
    return fail(c, { event: 'abandoned', to: 'ERROR' }, reason)
  }
  const move: MoveTo = { event: 'review_changes_requested', to: 'PLANNING' }
  const told = addRemarks(earlier, 'plan', `Round ${planRounds}`, remarks)
  const set = asData({ counts: { ...counts, planRounds }, earlier: told })
  const known = { ...(plan !== '' && { plan }), ...(failures !== '' && { failures }) }
  const reason = bounded(remarks, 500)
  return { ...think(c, 'coder/planning', move, { ...known, remarks }, set), reason }
}

/** The claim that nothing is left to do does not hold, in the revision that waits in planning. */
export function refuseClaim(c: CoderCase, remarks: string, failures = ''): Decision {
  const round = 'On the claim that nothing is left to do'
  const earlier = addRemarks(c.work.earlier, 'plan', round, remarks)
  const { decision } = resumeThinking(c.agent, remarks, Math.max(1, turnsLeft(c.agent)), failures)
  return { ...decision, set: { ...decision.set, ...asData({ earlier }) } }
}

/** What needs no change is done when the tests pass on it as it is. */
export function testAsItIs(c: CoderCase): Decision {
  return { effects: [testing(c)] }
}

/** Whatever a run leaves in the workspace is undone, or the next commit would have it. */
export function testing({ work: { place, work } }: CoderCase): EffectRequest {
  const { settings, story } = work
  const rewind = { run: settings.run, story: story.id }
  const input = { ...settings.tests, workspace: place?.folder ?? '', rewind }
  return { kind: 'run_tests', input }
}

export function finish(
  c: CoderCase,
  move: MoveTo,
  end: Exclude<StoryEnded['end'], { kind: 'failed' }>,
): Decision {
  const { story, settings } = c.work.work
  const payload = { coder: c.agent.id, end } as unknown as Json
  return {
    move,
    effects: [{ kind: 'clean_up', input: { run: settings.run, story: story.id } }],
    send: [{ to: storyAgentOf(settings.run, story.id), type: STORY_ENDED, payload }],
  }
}

export function mergeFailed(c: CoderCase, reason: string): Decision {
  const move = c.rules.mergeFailed
  if (move.to === 'ERROR') return fail(c, move, `the merge failed: ${reason}`)
  const fix: Fix = { kind: 'review', text: `The merge failed: ${reason}` }
  const { counts, work } = c.work
  const mergeRounds = counts.mergeRounds + 1
  const set = asData({ fix, counts: { ...counts, mergeRounds } })
  const isOver = mergeRounds >= work.settings.limits.codeRounds
  return isOver
    ? giveIn(c, move, `the merge failed: ${reason}`, set)
    : { ...thinkFix(c, fix, move, {}, set), reason: bounded(fix.text, 500) }
}

/** Said by a coder to itself: this came too often. */
export const GAVE_IN = 'gave_in'

/** The table leads to mending; from there the budget review is the way. */
export function giveIn(c: CoderCase, move: MoveTo, why: string, set: JsonObject): Decision {
  const message = { to: c.agent.id, type: GAVE_IN, payload: bounded(why, 500) }
  return { move, set, send: [message] }
}
