import type { Decision } from '../role.ts'
import type { JsonObject } from '../values.ts'
import {
  type CoderCase,
  commit,
  fail,
  failUnanswered,
  finish,
  mergeFailed,
  refuseClaim,
  resume,
  sendBack,
  testAsItIs,
  think,
  thinkFix,
  turnsOf,
} from './coder-case.ts'
import { addRemarks, asData, bounded, type Fix } from './coder-work.ts'
import type { MoveTo } from './decisions.ts'
import type { ResponseMessage } from './protocol.ts'

const ANSWERS_CHARS_MAX = 12_000

export function takeResponse(c: CoderCase, response: ResponseMessage): Decision {
  if (response.request !== c.work.pending?.id) return { reason: 'an answer that came too late' }
  const decision = decideOn(c, response)
  const set = decision.set?.pending === undefined ? { pending: null } : {}
  return { ...decision, set: { ...set, ...decision.set } }
}

function decideOn(c: CoderCase, response: ResponseMessage): Decision {
  const { state } = c.agent
  const canFail = state !== 'PLANNING' && state !== 'AWAIT_MERGE'
  if (response.isFailure && canFail) return failUnanswered(c, response.feedback)
  switch (c.agent.state) {
    case 'PLANNING':
      return afterClaim(c, response)
    case 'PLAN_REVIEW':
      return afterPlanReview(c, response)
    case 'QUESTION':
      return afterQuestion(c, response)
    case 'BUDGET_REVIEW':
      return afterBudgetReview(c, response)
    case 'CODE_REVIEW':
      return afterCodeReview(c, response)
    case 'AWAIT_MERGE':
      return afterMerge(c, response)
    default:
      return { reason: 'nothing was asked here' }
  }
}

/** The claim that nothing is left to do, in the revision that waits for it while planning. */
function afterClaim(c: CoderCase, { status, feedback }: ResponseMessage): Decision {
  if (status === 'APPROVED') return testAsItIs(c)
  return refuseClaim(c, `It is not complete: ${feedback}`)
}

function afterPlanReview(c: CoderCase, { status, feedback }: ResponseMessage): Decision {
  const { plan, pending } = c.work
  const isClaim = pending?.ask.kind === 'completion'
  if (status === 'APPROVED' && isClaim) return testAsItIs(c)
  if (status === 'APPROVED') {
    const move: MoveTo = { event: 'review_approved', to: 'CODING' }
    const remarks: Readonly<Record<string, string>> = feedback === '' ? {} : { remarks: feedback }
    return think(c, 'coder/coding', move, { plan, ...remarks })
  }
  if (status === 'REJECTED') {
    return fail(c, { event: 'abandoned', to: 'ERROR' }, `the plan was rejected: ${feedback}`)
  }
  return sendBack(c, feedback)
}

function afterQuestion(c: CoderCase, { status, feedback }: ResponseMessage): Decision {
  if (status === 'REJECTED') {
    return fail(c, { event: 'abandoned', to: 'ERROR' }, `given up at a question: ${feedback}`)
  }
  const to = c.agent.origin ?? 'PLANNING'
  const move: MoveTo = { event: 'question_answered', to }
  const decision = resume(c, move, `The answer to your question: ${feedback}`)
  const { answers: before, pending } = c.work
  const question = pending?.ask.kind === 'question' ? pending.ask.question : ''
  const answers = bounded([before, question, `> ${feedback}`].join('\n').trim(), ANSWERS_CHARS_MAX)
  return { ...decision, set: { ...decision.set, ...asData({ answers }) } }
}

function afterBudgetReview(c: CoderCase, { status, feedback, budget }: ResponseMessage): Decision {
  const { counts, work, spent } = c.work
  const fallback = status === 'APPROVED' ? 'continue' : 'abandon'
  const decided = budget ?? (status === 'NEEDS_CHANGES' ? 'escalate' : fallback)
  const leads = c.rules.budget[decided]
  const isReview = leads !== 'toOrigin' && leads.to === 'CODE_REVIEW'
  const isGrant = decided !== 'abandon' && !isReview
  const isTooMuch = isGrant && counts.grants >= work.settings.limits.budgetGrants
  if (decided === 'abandon' || isTooMuch) {
    const reason = isTooMuch ? `more turns were granted ${counts.grants} times already` : feedback
    return fail(c, { event: 'abandoned', to: 'ERROR' }, `the budget is spent: ${reason}`)
  }
  const fresh = { sameFailures: 0, mergeRounds: 0, stuck: 0 }
  const set = asData({ counts: { ...counts, ...fresh, grants: counts.grants + 1 } })
  if (leads === 'toOrigin') {
    const to = c.agent.origin ?? 'CODING'
    return goOn(c, { event: 'budget_granted', to }, feedback, spent !== 'turns', set)
  }
  if (leads.to === 'CODE_REVIEW') return { move: leads, set, effects: [commit(c)] }
  return goOn(c, leads, feedback, true, set)
}

/** Goes on with the same conversation, or with a new one where that was too long or another. */
function goOn(
  c: CoderCase,
  move: MoveTo,
  guidance: string,
  isFresh: boolean,
  set: JsonObject,
): Decision {
  const told: Readonly<Record<string, string>> = guidance === '' ? {} : { guidance }
  if (!isFresh) {
    const message = `You have more turns. ${guidance}`
    const decision = resume(c, move, message, turnsOf(c, move.to))
    return { ...decision, set: { ...decision.set, ...set } }
  }
  const { plan, fix } = c.work
  if (move.to === 'PLANNING') {
    return think(c, 'coder/planning', move, { ...plannedBefore(c), ...told }, set)
  }
  if (fix !== null && fix !== undefined) return thinkFix(c, fix, move, told, set)
  return think(c, 'coder/coding', move, { plan: plan === '' ? 'None.' : plan, ...told }, set)
}

/** What a conversation that planned it before had, and a new one has not. */
function plannedBefore({ work }: CoderCase): Readonly<Record<string, string>> {
  const { plan, earlier, failure, tests } = work
  const failures = failure === null ? '' : bounded(tests)
  const known = { plan, remarks: earlier.plan, failures }
  return Object.fromEntries(Object.entries(known).filter(([, text]) => text !== ''))
}

function afterCodeReview(c: CoderCase, { status, feedback }: ResponseMessage): Decision {
  const { counts, work, place, head, earlier } = c.work
  const { story, settings } = work
  if (status === 'APPROVED') {
    const { title, description } = story
    const draft = { target: settings.target, title, body: bounded(description, 4_000) }
    const input = { ...draft, branch: place?.branch ?? '', head: head ?? '' }
    const move: MoveTo = { event: 'review_approved', to: 'AWAIT_MERGE' }
    return { move, effects: [{ kind: 'open_pull_request', input }] }
  }
  const codeRounds = counts.codeRounds + 1
  const isOver = codeRounds >= settings.limits.codeRounds
  if (status === 'REJECTED' || isOver) {
    const reason = isOver ? `the code was sent back ${codeRounds} times` : 'the code was rejected'
    return fail(c, { event: 'abandoned', to: 'ERROR' }, `${reason}: ${feedback}`)
  }
  const fix: Fix = { kind: 'review', text: feedback }
  const told = addRemarks(earlier, 'code', `Round ${codeRounds}`, feedback)
  const set = asData({ fix, counts: { ...counts, codeRounds }, earlier: told })
  const move: MoveTo = { event: 'review_changes_requested', to: c.rules.mends }
  return { ...thinkFix(c, fix, move, {}, set), reason: bounded(feedback, 500) }
}

function afterMerge(
  c: CoderCase,
  { status, feedback, merged, conflict }: ResponseMessage,
): Decision {
  if (status === 'APPROVED') {
    const end = { kind: 'merged', commit: merged ?? '' } as const
    return finish(c, { event: 'merged', to: 'DONE' }, end)
  }
  if (conflict === undefined) return mergeFailed(c, feedback)
  const { counts, work } = c.work
  const { run, target } = work.settings
  const fix: Fix = { kind: 'conflict', text: conflict.text }
  const { base, content } = conflict
  const input = { run, story: work.story.id, target, base, ...(content !== null && { content }) }
  return {
    move: { event: 'merge_conflicted', to: c.rules.mends },
    set: asData({ fix, counts: { ...counts, mergeRounds: counts.mergeRounds + 1 } }),
    effects: [{ kind: 'prepare_workspace', input }],
    reason: bounded(conflict.text, 500),
  }
}
