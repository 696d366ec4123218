import type { AgentView, Decision, Message } from '../role.ts'
import type { Json } from '../values.ts'
import type { ArchitectRevision, ArchitectWork } from './architect-work.ts'
import { bounded, fieldOf } from './coder-work.ts'
import type { MoveTo } from './decisions.ts'
import {
  ARCHITECT_ESCALATED,
  ARCHITECT_IDLE,
  COUNT_STORIES,
  dispatcherOf,
  REQUEST_WAITING,
  RESPONSE,
  type RequestMessage,
  type ResponseMessage,
  runOf,
} from './protocol.ts'
import { specText } from './spec-text.ts'

/** Said by an architect to itself, where the table has two steps and the world only one. */
export const GO_ON = 'go_on'

/** What a question about a story is shown of its spec; the criteria come last, and stay. */
const SPEC_CHARS_MAX = 20_000
const SPEC_CUT = '[Here a part of the spec is left out, because it is too long.]'

/** An architect at the moment of a decision. */
export interface Case {
  readonly rules: ArchitectRevision
  readonly agent: AgentView
  readonly work: ArchitectWork
  readonly atMs: number
}

/** Says what was decided, and goes back to where requests come from. */
export function respond(c: Case, decision: Decision, response: ResponseMessage): Decision {
  const isIdle = c.rules.name === 'I' && !c.work.hasSpec
  const move: MoveTo = isIdle
    ? { event: 'returned_to_idle', to: 'WAITING' }
    : { event: 'request_answered', to: 'MONITORING' }
  return {
    ...decision,
    move,
    set: { ...decision.set, request: null, response: null },
    send: [...(decision.send ?? []), ...answer(c.work.request, response), idle(c.agent)],
  }
}

export function answer(
  request: RequestMessage | null,
  response: ResponseMessage | null,
): Message[] {
  if (request === null || response === null) return []
  return [{ to: request.from, type: RESPONSE, payload: response as unknown as Json }]
}

/** Whoever asked is told, and the architect recovers. */
export function failed(c: Case, decision: Decision, move: MoveTo, why: string): Decision {
  const { request } = c.work
  const response: ResponseMessage | null = request && {
    request: request.id,
    status: 'REJECTED',
    isFailure: true,
    feedback: bounded(why, 2_000),
  }
  const send = [...(decision.send ?? []), ...answer(request, response)]
  return recovering(c, { ...decision, send }, move, why)
}

export function recovering(
  { agent }: Case,
  decision: Decision,
  move: MoveTo,
  why: string,
): Decision {
  const recovery: Message = { to: agent.id, type: GO_ON, payload: null }
  return {
    ...decision,
    move,
    set: { ...decision.set, request: null, response: null, asked: null },
    send: [...(decision.send ?? []), recovery],
    reason: bounded(why, 500),
  }
}

export function idle({ id }: AgentView): Message {
  return { to: dispatcherOf(runOf(id)), type: ARCHITECT_IDLE, payload: { agent: id } }
}

/** Others are not to wait for this one. */
export function escalated({ id }: AgentView): Message {
  return { to: dispatcherOf(runOf(id)), type: ARCHITECT_ESCALATED, payload: { agent: id } }
}

/** Somebody else takes it, or the same one later: a request is never dropped. */
export function handOn({ agent, work }: Case, { id, from }: RequestMessage): Decision {
  if (work.request?.id === id) return { reason: 'at it already' }
  const payload = { request: id, from }
  const waiting = { to: dispatcherOf(runOf(agent.id)), type: REQUEST_WAITING, payload }
  // Whoever sent it here does not know, or it would come back again and again.
  const told = agent.state === 'ESCALATED' ? [escalated(agent)] : []
  return { send: [...told, waiting], reason: 'busy' }
}

export function counting({ id }: AgentView): Message {
  return { to: dispatcherOf(runOf(id)), type: COUNT_STORIES, payload: { agent: id } }
}

/** The architect's own clone; no story can have such a name. */
export function workspaceOf({ id }: AgentView): string {
  return `${id.slice(id.lastIndexOf('/') + 1)}.own`
}

export function approve({ id }: RequestMessage): ResponseMessage {
  return { request: id, status: 'APPROVED', feedback: '' }
}

/** The stories that the model handed in are checked, and made agents of. */
export function loadStories(c: Case, decision: Decision, input: Json): Decision {
  const { request } = c.work
  if (request === null || request.ask.kind !== 'spec') return { ...decision, reason: 'no spec' }
  const { spec } = request.ask
  const effect = {
    kind: 'load_stories',
    input: {
      run: request.settings.run,
      criteria: spec.criteria,
      spec: bounded(specText(spec), SPEC_CHARS_MAX, SPEC_CUT),
      stories: fieldOf(input, 'stories'),
      settings: request.settings,
    } as unknown as Json,
  }
  return { ...decision, effects: [effect] }
}
