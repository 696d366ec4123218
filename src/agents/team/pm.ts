import type { Exhausted } from '../../ledger/limits.ts'
import { pm1 } from '../../machines/tables/pm-1.ts'
import type { Criterion } from '../../stories/story.ts'
import {
  type AgentEvent,
  type AgentView,
  type Decision,
  type FinishedEffect,
  finishedEffect,
  type Role,
  TIMER_FIRED,
} from '../role.ts'
import {
  abandonThinking,
  continueThinking,
  resumeThinking,
  type ThinkingStep,
  turnsLeft,
} from '../thinking/thinking.ts'
import type { Json, JsonObject } from '../values.ts'
import { bounded, fieldOf } from './coder-work.ts'
import { describeSpent, joined, type MoveTo } from './decisions.ts'
import { readAnswer } from './human-answer.ts'
import {
  ANSWER,
  asking,
  type Case,
  NOTHING,
  type PmFailure,
  type PmWork,
  SPEC_BROUGHT,
  type SpecBrought,
  think,
} from './pm-case.ts'
import {
  AGAIN,
  ARCHITECT_FREE,
  ARCHITECT_IDLE,
  type ArchitectFree,
  CHANNEL_CLOSED,
  dispatcherOf,
  REQUEST,
  REQUEST_WAITING,
  RESPONSE,
  type RequestMessage,
  type ResponseMessage,
  runOf,
  type Spec,
} from './protocol.ts'
import { readSpec, specText } from './spec-text.ts'

/** The product manager: from a document or an interview to a spec that the architect takes. */
export const pmRole: Role = {
  name: 'pm',
  machine: pm1,
  recycles: false,
  initialData: {},
  handle(agent, event) {
    const work = { ...NOTHING, ...(agent.data as unknown as PmWork) }
    return decide({ agent, work, atMs: event.atMs }, event)
  },
}

function decide(c: Case, event: AgentEvent): Decision {
  const { type, payload } = event
  if (type === SPEC_BROUGHT) return takeDocument(c, payload as unknown as SpecBrought)
  if (type === ARCHITECT_FREE) return sendRequest(c, payload as unknown as ArchitectFree)
  if (type === PREVIEWED && c.agent.state === 'PREVIEW') return submit(c, {})
  if (type === DRAFTED && c.agent.state === 'DRAFTING') return showDraft(c, {})
  if (type === REVISED_TOO_OFTEN && c.agent.state === 'REVISING') return askAfterRounds(c)
  if (type === 'suspension_timed_out') return cleaned(c)
  if (type === TIMER_FIRED && payload === ANSWER) return timeOut(c)
  if (type === CHANNEL_CLOSED) return comeBack(c)
  if (type === RESPONSE) return takeResponse(c, payload as unknown as ResponseMessage)
  const step = continueThinking(c.agent, event)
  if (step !== undefined) return afterThinking(c, step)
  const finished = finishedEffect(event)
  return finished === undefined ? { reason: `not for a PM: ${type}` } : takeOutcome(c, finished)
}

/** Said to itself, where the table has two steps and the world only one. */
const PREVIEWED = 'previewed'
const DRAFTED = 'drafted'
const REVISED_TOO_OFTEN = 'revised_too_often'

/** The question is withdrawn, so that an answer that comes later is refused. */
function timeOut(c: Case): Decision {
  const { asked } = c.work
  if (asked === null) return { reason: 'answered already' }
  const move: MoveTo = { event: 'answer_timed_out', to: 'ERROR' }
  return fail(c, { cancel: [asked] }, move, 'nobody answered in time')
}

/** Whoever waits for an answer asks again; whoever waits for a spec will not get one here. */
function comeBack(c: Case): Decision {
  const { agent, work } = c
  if (agent.state === 'WAITING') {
    return fail(c, {}, { event: 'channel_closed', to: 'ERROR' }, 'what brings specs was lost')
  }
  if (work.pending === null) return { reason: 'at work' }
  const payload = { request: work.pending.id, from: agent.id }
  return { send: [{ to: dispatcherOf(runOf(agent.id)), type: REQUEST_WAITING, payload }] }
}

function askAfterRounds(c: Case): Decision {
  const { rounds, remarks } = c.work
  const question = `The architect sent the spec back ${rounds} times: ${remarks}`
  const decision = asking(c, 'interview', question, { choices: [] })
  const move: MoveTo = { event: 'budget_exhausted', to: 'INTERVIEWING' }
  return { ...decision, move, set: { ...decision.set, rounds: 0 } }
}

function takeDocument(c: Case, brought: SpecBrought): Decision {
  if (c.agent.state !== 'WAITING') return { reason: 'busy' }
  const set = { brought } as unknown as JsonObject
  const work = { ...c.work, brought }
  if (brought.isWish) {
    const move: MoveTo = { event: 'interview_started', to: 'INTERVIEWING' }
    return think({ ...c, work }, move, 'pm/interviewing', { wish: brought.document }, set)
  }
  const move: MoveTo = { event: 'spec_received', to: 'DRAFTING' }
  const spec = readSpec(brought.document)
  if (spec === undefined) {
    return think({ ...c, work }, move, 'pm/drafting', { document: brought.document }, set)
  }
  // It has its criteria already: nothing is left to draft.
  const drafted = { to: c.agent.id, type: DRAFTED, payload: null }
  return { move, set: { ...set, spec: spec as unknown as Json }, send: [drafted] }
}

function afterThinking(c: Case, step: ThinkingStep): Decision {
  const { decision } = step
  if (step.kind === 'going') return decision
  if (step.kind === 'spent' && typeof step.what !== 'string') {
    return askForBudget(c, decision, step.what)
  }
  if (step.kind !== 'ended') {
    const why = step.kind === 'failed' ? step.message : describeSpent(step)
    return fail(c, decision, { event: 'failed_unrecoverably', to: 'ERROR' }, why)
  }
  const text = (name: string) => String(fieldOf(step.input, name) ?? '')
  switch (step.tool) {
    case 'submit_spec':
      return takeDraft(c, decision, step.input)
    case 'end_interview': {
      const move: MoveTo = { event: 'interview_completed', to: 'DRAFTING' }
      return joined(decision, think(c, move, 'pm/drafting', { interview: text('summary') }, {}))
    }
    default: {
      const options = (fieldOf(step.input, 'options') ?? []) as readonly string[]
      return askHuman(c, decision, text('question'), options)
    }
  }
}

/** Only a human can give more; with it the same work begins again. */
function askForBudget(c: Case, decision: Decision, cause: Exhausted): Decision {
  const question = `The spec cannot go on: ${describeSpent({ what: cause })}.`
  const offer = { choices: [AGAIN, 'abandon'], cause }
  const all = joined(decision, asking(c, 'interview', question, offer))
  if (c.agent.state === 'INTERVIEWING') return all
  const event = c.agent.state === 'REVISING' ? 'budget_exhausted' : 'question_asked'
  return { ...all, move: { event, to: 'INTERVIEWING' } }
}

/** A question while drafting leads to the interview; in the interview it is what it is for. */
function askHuman(
  c: Case,
  decision: Decision,
  question: string,
  choices: readonly string[],
): Decision {
  const all = joined(decision, asking(c, 'interview', question, { choices, isOfModel: true }))
  if (c.agent.state === 'INTERVIEWING') return all
  return { ...all, move: { event: 'question_asked', to: 'INTERVIEWING' } }
}

function takeDraft(c: Case, decision: Decision, input: Json): Decision {
  const spec: Spec = {
    title: String(fieldOf(input, 'title')),
    body: String(fieldOf(input, 'body')),
    criteria: fieldOf(input, 'criteria') as unknown as readonly Criterion[],
  }
  return showDraft({ ...c, work: { ...c.work, spec } }, decision)
}

function showDraft(c: Case, decision: Decision): Decision {
  const { agent, work } = c
  const spec = work.spec as Spec
  const shown = {
    ...decision,
    move: { event: 'draft_submitted', to: 'PREVIEW' } as const,
    set: { ...decision.set, spec: spec as unknown as Json },
  }
  if (work.brought.preview === 'human') return joined(shown, askForPreview(c))
  const previewed = { to: agent.id, type: PREVIEWED, payload: null }
  return { ...shown, send: [...(decision.send ?? []), previewed] }
}

function askForPreview(c: Case): Decision {
  const choices = ['approve', 'change', 'abandon']
  const offer = { choices, words: 'they count as change', wordsAs: 'change' }
  return asking(c, 'preview', specText(c.work.spec as Spec), offer)
}

function submit({ agent, work }: Case, decision: Decision): Decision {
  const { settings } = work.brought
  const { id: from, seq } = agent
  const pending: RequestMessage = {
    id: `${from}#${seq + 1}`,
    from,
    story: null,
    settings,
    ask: {
      kind: 'spec',
      spec: work.spec as Spec,
      round: work.rounds + 1,
      problems: work.remarks,
    },
  }
  const payload = { request: pending.id, from }
  return {
    ...decision,
    move: { event: 'review_approved', to: 'SPEC_REVIEW' },
    set: { ...decision.set, pending: pending as unknown as Json },
    send: [
      ...(decision.send ?? []),
      { to: dispatcherOf(settings.run), type: REQUEST_WAITING, payload },
    ],
  }
}

function sendRequest({ agent, work }: Case, { request, architect }: ArchitectFree): Decision {
  const { pending } = work
  if (pending?.id === request) {
    return { send: [{ to: architect, type: REQUEST, payload: pending as unknown as Json }] }
  }
  const dispatcher = dispatcherOf(runOf(agent.id))
  return { send: [{ to: dispatcher, type: ARCHITECT_IDLE, payload: { agent: architect } }] }
}

function takeResponse(c: Case, { request, status, feedback }: ResponseMessage): Decision {
  const { pending, rounds, brought } = c.work
  if (pending?.id !== request || c.agent.state !== 'SPEC_REVIEW') return { reason: 'too late' }
  if (status === 'APPROVED') {
    return { move: { event: 'spec_approved', to: 'DONE' }, set: { pending: null } }
  }
  if (status === 'REJECTED') {
    return fail(c, {}, { event: 'abandoned', to: 'ERROR' }, feedback)
  }
  const isOver = rounds + 1 >= brought.settings.limits.specRounds
  const set = { pending: null, rounds: rounds + 1, remarks: feedback }
  const move: MoveTo = { event: 'review_changes_requested', to: 'REVISING' }
  // The table leads to revising; from there a human is asked when it has gone round too often.
  if (isOver)
    return { move, set, send: [{ to: c.agent.id, type: REVISED_TOO_OFTEN, payload: null }] }
  return revise(c, move, 'the architect', feedback, set)
}

function revise(
  c: Case,
  move: MoveTo,
  reviewer: string,
  remarks: string,
  set: JsonObject,
): Decision {
  const spec = c.work.spec as Spec
  const criteria = spec.criteria.map(({ id, text }) => `${id}. ${text}`).join('\n')
  const { interview } = c.work
  const answers: Readonly<Record<string, string>> = interview === '' ? {} : { answers: interview }
  const variables = {
    spec: `${spec.title}\n\n${spec.body}`,
    criteria,
    reviewer,
    remarks,
    ...answers,
  }
  return think(c, move, 'pm/revising', variables, set)
}

function takeOutcome(c: Case, { kind, result, effect }: FinishedEffect): Decision {
  const { state } = c.agent
  if (kind === 'clean_up' && state === 'ERROR') return { move: { event: 'cleaned_up', to: 'DONE' } }
  if (kind !== 'ask_human' || effect !== c.work.asked) return { reason: `${kind} is over` }
  const { choice, words } = readAnswer(result, c.work.offered)
  const decision = takeAnswer(c, choice, words)
  // A question that follows has a timer of its own.
  const over = { asked: null, question: null }
  const timers = { [ANSWER]: null, ...decision.timers }
  return { ...decision, set: { ...over, ...decision.set }, timers }
}

function takeAnswer(c: Case, choice: string, text: string): Decision {
  if (choice === 'abandon') return fail(c, {}, { event: 'abandoned', to: 'ERROR' }, 'by the human')
  if (c.agent.state === 'PREVIEW') {
    if (choice === 'approve') return submit(c, {})
    if (text.trim() === '') return askForPreview(c)
    const move: MoveTo = { event: 'review_changes_requested', to: 'REVISING' }
    return revise(c, move, 'the human', text, { remarks: text })
  }
  const { interview: before, question, brought, spec, remarks } = c.work
  const isAgain = choice === AGAIN
  const told = `${before}\n\n${question}\n> ${text}`.trim()
  const interview = isAgain ? before : bounded(told, 40_000)
  const set = { interview }
  if (isInterview(c.agent) && (isAgain || turnsLeft(c.agent) > 0)) {
    const message = isAgain ? 'Go on.' : `The answer: ${text}`
    const { decision } = resumeThinking(c.agent, message, Math.max(1, turnsLeft(c.agent)))
    return { ...decision, set: { ...decision.set, ...set } }
  }
  const move: MoveTo = { event: 'interview_completed', to: 'DRAFTING' }
  // What is revised is the spec as it is by now, with what was said about it.
  const document =
    spec === null ? brought.document : `${specText(spec)}\n\nTo be mended:\n${remarks}`
  return think(c, move, 'pm/drafting', { document, interview }, set)
}

/** Whether its last conversation was the interview, which alone goes on in INTERVIEWING. */
function isInterview({ data }: AgentView): boolean {
  const ground = data.ground as unknown as { assignment?: { task?: string } } | undefined
  return ground?.assignment?.task === 'pm/interviewing'
}

function fail({ agent }: Case, decision: Decision, move: MoveTo, why: string): Decision {
  const reason = bounded(why, 500)
  return {
    ...decision,
    move,
    reason,
    set: { ...decision.set, pending: null, asked: null, failure: failureOf(reason, false) },
    timers: { [ANSWER]: null },
    effects: [cleaning(agent)],
  }
}

function failureOf(reason: string, isOutage: boolean): JsonObject {
  return { reason, isOutage } satisfies PmFailure
}

/** In ERROR already, because a suspension timed out. */
function cleaned({ agent }: Case): Decision {
  if (agent.state !== 'ERROR') return { reason: 'not in ERROR' }
  const failure = failureOf('the services did not come back', true)
  return joined(abandonThinking(agent), { set: { failure }, effects: [cleaning(agent)] })
}

/** A product manager leaves nothing behind but what is in the journal. */
function cleaning({ id }: AgentView) {
  return { kind: 'clean_up', input: { agent: id } }
}
