import type { Exhausted } from '../../ledger/limits.ts'
import { type Decision, effectIdOf, type FinishedEffect } from '../role.ts'
import type { Json } from '../values.ts'
import { type Case, escalated, failed, GO_ON } from './architect-case.ts'
import { choicesOf, questionOf } from './architect-question.ts'
import { asArchitectData } from './architect-work.ts'
import { bounded } from './coder-work.ts'
import { describeSpent } from './decisions.ts'
import { readAnswer } from './human-answer.ts'
import { AGAIN, type ResponseMessage } from './protocol.ts'

/** The timer of a question that a human has. */
export const ESCALATION = 'escalation'

/** Only a human can decide; until then the question waits, as long as the limits let it. */
export function escalate(
  c: Case,
  decision: Decision,
  question: string,
  options: readonly string[],
  cause?: Exhausted,
): Decision {
  const { request } = c.work
  const about = request?.story?.id ?? 'spec'
  const kind = request?.ask.kind ?? 'request'
  const { options: offered, ...choices } = choicesOf(request, options, cause !== undefined)
  const asked = { about, kind, question: bounded(question, 4_000), ...choices }
  const input = cause === undefined ? asked : { ...asked, cause }
  const timeoutMs = request?.settings.limits.escalationMs ?? 0
  return {
    ...decision,
    move: { event: 'escalated', to: 'ESCALATED' },
    set: { ...decision.set, ...asArchitectData({ asked: effectIdOf(c.agent, 0), offered }) },
    send: [...(decision.send ?? []), escalated(c.agent)],
    effects: [{ kind: 'ask_human', input: input as unknown as Json }],
    timers: { [ESCALATION]: c.atMs + timeoutMs },
    reason: bounded(question, 500),
  }
}

/** Nobody but the human can decide it, for that reason. */
export function undecided(c: Case, decision: Decision, why: string, cause?: Exhausted): Decision {
  const { request } = c.work
  return escalate(c, decision, request === null ? why : questionOf(request, why), [], cause)
}

/** The human decides it in the place of a model, or says that what was in the way is not any more. */
export function putToHuman(c: Case): Decision {
  const { request } = c.work
  const cause = request?.cause
  if (cause !== undefined) return undecided(c, {}, describeSpent({ what: cause }), cause)
  return escalate(c, {}, request === null ? 'Should this be done?' : questionOf(request, null), [])
}

/** A request with nothing in its way. */
export function withoutCause(c: Case): Case {
  if (c.work.request === null) return c
  const { cause: _, ...request } = c.work.request
  return { ...c, work: { ...c.work, request } }
}

/** What the human decided is said from REQUEST; undefined when the architect is to try again. */
export function afterHuman(c: Case, result: FinishedEffect['result']): Decision | undefined {
  const { request, offered } = c.work
  const { choice, words: feedback } = readAnswer(result, offered)
  if (choice === AGAIN) return undefined
  const kind = request?.ask.kind ?? 'request'
  const isYes = kind === 'question' || (kind !== 'spec' && choice === 'approve')
  const status = choice === 'abandon' ? 'REJECTED' : isYes ? 'APPROVED' : 'NEEDS_CHANGES'
  const response: ResponseMessage = { request: request?.id ?? '', status, feedback }
  return {
    ...backToRequest(c),
    set: asArchitectData({ response, asked: null }),
    send: [{ to: c.agent.id, type: GO_ON, payload: null }],
  }
}

/** The question is over. */
export function backToRequest({ work: { request } }: Case): Decision {
  return {
    move: { event: 'human_answered', to: 'REQUEST' },
    set: asArchitectData({ asked: null, request }),
    timers: { [ESCALATION]: null },
  }
}

/** The question is withdrawn, so that an answer that comes later is refused. */
export function timeOut(c: Case): Decision {
  if (c.agent.state !== 'ESCALATED') return { reason: 'answered already' }
  const { asked } = c.work
  const also = { cancel: asked === null ? [] : [asked] }
  return failed(c, also, { event: 'answer_timed_out', to: 'ERROR' }, 'nobody answered in time')
}
