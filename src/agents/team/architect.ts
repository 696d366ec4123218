import {
  type AgentEvent,
  type Decision,
  type EffectRequest,
  type FinishedEffect,
  finishedEffect,
  type Message,
  type Role,
  TIMER_FIRED,
} from '../role.ts'
import { SAME_MAX } from '../thinking/repetition.ts'
import {
  abandonThinking,
  beginThinking,
  continueThinking,
  resumeThinking,
  type ThinkingStep,
  turnsLeft,
} from '../thinking/thinking.ts'
import type { Json, JsonObject } from '../values.ts'
import {
  answer,
  approve,
  type Case,
  counting,
  failed,
  GO_ON,
  handOn,
  idle,
  loadStories,
  recovering,
  respond,
  workspaceOf,
} from './architect-case.ts'
import {
  afterHuman,
  backToRequest,
  ESCALATION,
  escalate,
  putToHuman,
  timeOut,
  undecided,
  withoutCause,
} from './architect-escalation.ts'
import { taskOf } from './architect-tasks.ts'
import {
  ARCHITECT_REVISIONS,
  architectWorkOf,
  asArchitectData,
  countUntaken,
} from './architect-work.ts'
import { bounded, fieldOf } from './coder-work.ts'
import { describeSpent, joined, type MoveTo } from './decisions.ts'
import {
  CHANNEL_CLOSED,
  dispatcherOf,
  MERGE_FINISHED,
  MERGE_WANTED,
  type MergeFinished,
  mergeQueueOf,
  REQUEST,
  REQUEST_WAITING,
  type RequestMessage,
  type ResponseMessage,
  runOf,
  STORIES_COUNTED,
  type StoriesCounted,
  type TeamSettings,
} from './protocol.ts'

/** The behaviour of an architect under one revision of its document. */
export function architect(revision: keyof typeof ARCHITECT_REVISIONS): Role {
  const rules = ARCHITECT_REVISIONS[revision]
  return {
    name: `architect@${revision}`,
    machine: rules.machine,
    recycles: false,
    initialData: {},
    greet: (agent) => [idle(agent)],
    handle: (agent, event) =>
      decide({ rules, agent, work: architectWorkOf(agent), atMs: event.atMs }, event),
  }
}

function decide(c: Case, event: AgentEvent): Decision {
  const { type, payload } = event
  if (type === REQUEST) return takeRequest(c, payload as unknown as RequestMessage)
  if (type === GO_ON) return goOn(c)
  if (type === STORIES_COUNTED) return dispatched(c, payload as unknown as StoriesCounted)
  if (type === MERGE_FINISHED) return afterMerge(c, payload as unknown as MergeFinished)
  if (type === 'suspension_timed_out') return giveBack(c)
  if (type === TIMER_FIRED && payload === ESCALATION) return timeOut(c)
  if (type === CHANNEL_CLOSED) return comeBack(c)
  const step = continueThinking(c.agent, event)
  if (step !== undefined) return afterThinking(c, step)
  const finished = finishedEffect(event)
  return finished === undefined
    ? { reason: `not for an architect: ${type}` }
    : takeOutcome(c, finished)
}

/** Takes a request in, by the way that the state has for it. */
function takeRequest(c: Case, request: RequestMessage): Decision {
  const { state } = c.agent
  const set = asArchitectData({ request })
  const taken = { ...c, work: { ...c.work, request } }
  if (state === 'DONE') {
    return { move: { event: 'spec_received', to: 'WAITING' }, send: [again(c, request)] }
  }
  if (state === 'MONITORING') {
    const move: MoveTo = { event: 'request_received', to: 'REQUEST' }
    // Others were merged since its clone was made, and of a run that was over it may be gone.
    if (needsOwn(c, request)) return { move, set, effects: [preparing(c, request)] }
    return joined({ move, set }, begin(taken, 'REQUEST'))
  }
  // On its way back to WAITING: it is taken up there.
  if (state === 'ERROR' && c.work.request === null) return { set, reason: 'recovers first' }
  if (state !== 'WAITING') return handOn(c, request)
  if (c.rules.scopesIn === 'SCOPING') return scope(taken, request, set)
  const effects = [preparing(c, request)]
  return { move: { event: 'request_received', to: 'SETUP' }, set, effects }
}

/** What is about no story is thought about in a clone of its own, by the revision that has one. */
function needsOwn({ rules }: Case, { story }: RequestMessage): boolean {
  return story === null && rules.scopesIn === 'REQUEST'
}

/** Makes its own clone, or finds it; what is thought about there is to be seen as it is by now. */
function preparing(c: Case, request: RequestMessage): EffectRequest {
  const { run, target } = request.settings
  const onto = needsOwn(c, request) ? { onto: 'target' } : {}
  const input = { run, story: workspaceOf(c.agent), target, ...onto }
  return { kind: 'prepare_workspace', input }
}

/** Revision D leaves WAITING for SCOPING alone, also when the stories are there already. */
function scope(c: Case, { ask }: RequestMessage, set: JsonObject): Decision {
  const move: MoveTo = { event: 'spec_received', to: 'SCOPING' }
  return joined({ move, set }, ask.kind === 'spec' ? begin(c, 'SCOPING') : later(c, null))
}

function again({ agent }: Case, request: RequestMessage): Message {
  return { to: agent.id, type: REQUEST, payload: request as unknown as Json }
}

/** Begins to work on the request, in the state that the machine is about to be in. */
function begin(c: Case, state: string): Decision {
  const { request } = c.work
  if (request === null) return {}
  const { settings, story, ask } = request
  // Revision D scopes in a state of its own, and gets there by way of a recovery.
  if (ask.kind === 'spec' && state !== c.rules.scopesIn) return later(c, null)
  if (request.cause !== undefined) return later(c, null)
  if (ask.kind === 'plan' && settings.planReview === 'human') return later(c, null)
  if (ask.kind === 'plan' && passesUnread(c, settings, ask.note)) return later(c, approve(request))
  const task = taskOf(request)
  if (task === undefined) return wantMerge(c, request)
  const turnsMax = settings.limits.reviewTurns
  const own = needsOwn(c, request) ? { run: settings.run, story: workspaceOf(c.agent) } : null
  const assignment = {
    task: task.task,
    withheld: [],
    state,
    story: story?.id ?? null,
    workspace: story === null ? own : { run: settings.run, story: story.id },
    variables: { ...task.variables, turns: String(turnsMax) },
    turnsMax,
  }
  return beginThinking(c.agent, assignment, settings.minds.architect).decision
}

/** A plan that is marked, because nobody finished it, is for the architect to decide. */
function passesUnread({ rules }: Case, { planReview }: TeamSettings, note: string): boolean {
  return planReview === 'auto' && rules.mayPassPlans && note === ''
}

/** Goes on in the state that the machine is about to enter; null asks the human there. */
function later({ agent }: Case, response: ResponseMessage | null): Decision {
  return {
    set: asArchitectData({ response }),
    send: [{ to: agent.id, type: GO_ON, payload: null }],
  }
}

/** What was decided is said, or a human is asked. */
function goOn(c: Case): Decision {
  const { request, response } = c.work
  switch (c.agent.state) {
    case 'ERROR':
      return recover(c)
    case 'SCOPING':
      return { move: c.rules.scoped, send: [counting(c.agent)] }
    case 'REQUEST':
      break
    default:
      return { reason: 'nothing to go on with' }
  }
  if (response?.status === 'REJECTED') return abandon(c, response)
  if (response !== null) return respond(c, {}, response)
  if (request?.ask.kind === 'spec') {
    const why = 'a spec is scoped from the beginning'
    const move: MoveTo = { event: 'failed_unrecoverably', to: 'ERROR' }
    const decision = recovering(c, {}, move, why)
    return { ...decision, set: { ...decision.set, ...asArchitectData({ request }) } }
  }
  return putToHuman(c)
}

/** Ready for requests, or for the one that it was on its way to. */
function recover(c: Case): Decision {
  const { request } = c.work
  const move: MoveTo = { event: 'recovered', to: 'WAITING' }
  return { move, send: [request === null ? idle(c.agent) : again(c, request)] }
}

/** The human gave it up: whoever asked is told, and the architect begins anew. */
function abandon(c: Case, response: ResponseMessage): Decision {
  const also = { send: answer(c.work.request, response) }
  return recovering(c, also, { event: 'abandoned', to: 'ERROR' }, response.feedback)
}

/** Brain failures that somebody else may decide without a brain; others are ours. */
const DECLINED = ['refused', 'rejected']

function afterThinking(c: Case, step: ThinkingStep): Decision {
  if (step.kind === 'going') return step.decision
  if (step.kind === 'ended') return takeEnding(c, step.decision, step.tool, step.input)
  const why = step.kind === 'failed' ? `${step.code}: ${step.message}` : describeSpent(step)
  const isBroken = step.kind === 'failed' && !DECLINED.includes(step.code)
  if (c.agent.state === 'SCOPING' || isBroken) {
    return failed(c, step.decision, { event: 'failed_unrecoverably', to: 'ERROR' }, why)
  }
  const cause = step.kind === 'spent' && typeof step.what !== 'string' ? step.what : undefined
  return undecided(c, step.decision, why, cause)
}

function takeEnding(c: Case, decision: Decision, tool: string, input: Json): Decision {
  const request = c.work.request?.id ?? ''
  const text = (name: string) => String(fieldOf(input, name) ?? '')
  switch (tool) {
    case 'review_complete': {
      const points = (fieldOf(input, 'must_fix') ?? []) as readonly string[]
      const feedback = [text('feedback'), ...points.map((point) => `- ${point}`)]
        .filter((line) => line !== '')
        .join('\n')
      const verdict = text('verdict')
      const status =
        verdict === 'approved' ? 'APPROVED' : verdict === 'rejected' ? 'REJECTED' : 'NEEDS_CHANGES'
      return respond(c, decision, { request, status, feedback })
    }
    case 'decide_budget':
      return respond(c, decision, budgetResponse(request, text('decision'), text('guidance')))
    case 'answer_question':
      return respond(c, decision, { request, status: 'APPROVED', feedback: text('answer') })
    case 'escalate': {
      const options = (fieldOf(input, 'options') ?? []) as readonly string[]
      return escalate(c, decision, text('question'), options)
    }
    case 'spec_feedback': {
      const problems = (fieldOf(input, 'problems') ?? []) as readonly string[]
      const feedback = problems.map((problem) => `- ${problem}`).join('\n')
      return sendSpecBack(c, decision, { request, status: 'NEEDS_CHANGES', feedback })
    }
    default:
      return loadStories(c, decision, input)
  }
}

function budgetResponse(request: string, decided: string, feedback: string): ResponseMessage {
  const budget = decided as NonNullable<ResponseMessage['budget']>
  const status =
    budget === 'abandon' ? 'REJECTED' : budget === 'escalate' ? 'NEEDS_CHANGES' : 'APPROVED'
  return { request, status, feedback, budget }
}

function takeOutcome(c: Case, { kind, result }: FinishedEffect): Decision {
  const { state } = c.agent
  if (kind === 'prepare_workspace' && state === 'SETUP') {
    if (result.ok) {
      return joined({ move: { event: 'workspace_ready', to: 'REQUEST' } }, begin(c, 'REQUEST'))
    }
    return failed(c, {}, { event: 'setup_failed', to: 'ERROR' }, result.error.message)
  }
  if (kind === 'prepare_workspace' && state === 'REQUEST') {
    if (result.ok) return begin(c, 'REQUEST')
    return failed(c, {}, { event: 'failed_unrecoverably', to: 'ERROR' }, result.error.message)
  }
  if (kind === 'load_stories') return afterLoading(c, result)
  if (kind === 'ask_human' && state === 'ESCALATED') {
    const free = withoutCause(c)
    return afterHuman(c, result) ?? joined(backToRequest(free), begin(free, 'REQUEST'))
  }
  return { reason: `${kind} is over` }
}

/** Stories that cannot be built go back to the model; others are on their way. */
function afterLoading(c: Case, result: FinishedEffect['result']): Decision {
  const { request } = c.work
  const problems = result.ok
    ? ((fieldOf(result.value, 'problems') ?? []) as readonly string[])
    : [result.error.message]
  if (problems.length > 0) {
    const list = problems.map((one) => `- ${one}`).join('\n')
    const left = turnsLeft(c.agent)
    const message = bounded(`The stories cannot be taken:\n${list}`)
    const untaken = countUntaken(c.work, message)
    // Who is told the same again and again does not find a way out in the turns that are left.
    if (left > 0 && untaken.times < SAME_MAX) {
      const { decision } = resumeThinking(c.agent, message, left)
      return joined(decision, { set: asArchitectData({ untaken }) })
    }
    const over = { set: asArchitectData({ untaken: null }) }
    if (c.agent.state !== 'SCOPING') return escalate(c, over, message, [])
    return failed(c, over, { event: 'failed_unrecoverably', to: 'ERROR' }, message)
  }
  return {
    move: c.rules.scoped,
    set: { ...asArchitectData({ hasSpec: true, untaken: null }), request: null, response: null },
    send: [...answer(request, request === null ? null : approve(request)), counting(c.agent)],
  }
}

/** In DISPATCHING: what is ready is on its way by itself; what is left decides where to go on. */
function dispatched(c: Case, { left }: StoriesCounted): Decision {
  const { agent, work } = c
  if (agent.state !== 'DISPATCHING') return { reason: 'not dispatching' }
  if (left > 0) {
    const send = [work.request === null ? idle(agent) : again(c, work.request)]
    return { move: { event: 'stories_dispatched', to: 'MONITORING' }, send }
  }
  const set = { ...asArchitectData({ hasSpec: false }), request: null }
  return { move: { event: 'all_stories_completed', to: 'DONE' }, set, send: [idle(agent)] }
}

function wantMerge({ agent }: Case, request: RequestMessage): Decision {
  const { ask, story, settings, id } = request
  if (ask.kind !== 'merge' || story === null) return {}
  const merge = {
    run: settings.run,
    story: story.id,
    target: settings.target,
    head: ask.head,
    number: ask.number,
    title: story.title,
    body: bounded(story.description, 2_000),
    tests: settings.tests,
  }
  const payload = { from: agent.id, request: id, merge }
  return { send: [{ to: mergeQueueOf(settings.run), type: MERGE_WANTED, payload }] }
}

function afterMerge(c: Case, { request, response }: MergeFinished): Decision {
  if (c.agent.state !== 'REQUEST' || c.work.request?.id !== request) return { reason: 'not asked' }
  if (response.status !== 'APPROVED') return respond(c, {}, response)
  const { merged } = c.rules
  const next = merged.to === 'DISPATCHING' ? counting(c.agent) : idle(c.agent)
  return {
    move: merged,
    set: { request: null, response: null },
    send: [...answer(c.work.request, response), next],
  }
}

function sendSpecBack(c: Case, decision: Decision, response: ResponseMessage): Decision {
  if (c.rules.canSendSpecBack) return respond(c, decision, response)
  // Revision D can leave SCOPING for stories or an error alone, and recovers from that.
  const also = {
    ...decision,
    send: [...(decision.send ?? []), ...answer(c.work.request, response)],
  }
  return recovering(c, also, { event: 'failed_unrecoverably', to: 'ERROR' }, 'the spec went back')
}

/** Whoever waits for requests says so again. */
function comeBack(c: Case): Decision {
  const { state } = c.agent
  if (state !== 'WAITING' && state !== 'MONITORING') {
    return state === 'DONE' ? { send: [idle(c.agent)] } : { reason: 'at work' }
  }
  if (!c.rules.failsWhenCutOff) return { send: [idle(c.agent)] }
  const move: MoveTo = { event: 'channel_closed', to: 'ERROR' }
  return recovering(c, {}, move, 'what brings requests was lost')
}

/** After an outage: somebody takes the request up again once the services are back. */
function giveBack({ agent, work }: Case): Decision {
  const { request } = work
  const dispatcher = dispatcherOf(runOf(agent.id))
  const payload = request && { request: request.id, from: request.from }
  const again: Message[] =
    payload === null ? [] : [{ to: dispatcher, type: REQUEST_WAITING, payload }]
  const send = [...again, { to: agent.id, type: GO_ON, payload: null }]
  return joined(abandonThinking(agent), { set: { request: null, response: null }, send })
}
