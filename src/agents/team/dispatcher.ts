import { dispatcher1 } from '../../machines/tables/dispatcher-1.ts'
import { type Candidate, chooseNext } from '../../stories/choice.ts'
import { CLOSE_STORY } from '../ledger-keeper.ts'
import {
  type AgentEvent,
  type AgentView,
  type Decision,
  EFFECT_FINISHED,
  effectIdOf,
  type FinishedEffect,
  type Message,
  type Role,
} from '../role.ts'
import type { AgentId, EffectId, Json, JsonObject } from '../values.ts'
import {
  ARCHITECT_ESCALATED,
  ARCHITECT_FREE,
  ARCHITECT_IDLE,
  agentIdOf,
  CODER_IDLE,
  COME_FORWARD,
  COUNT_STORIES,
  type IdleMessage,
  ledgerOf,
  NEXT_IN_LINE,
  REQUEST_WAITING,
  type RequestWaiting,
  runOf,
  STORIES_COUNTED,
  STORIES_LOADED,
  STORY_OVER,
  STORY_READY,
  STORY_TAKEN,
  type StoriesLoaded,
  type StoryOver,
  type StoryReady,
  storyAgentOf,
} from './protocol.ts'

/** What the dispatcher holds: what is ready and who is free, and never what is finished. */
type DispatcherData = {
  readonly ready: readonly Candidate[]
  /** Ready stories beyond the window, of which only the ends are known here. */
  readonly line: { readonly first: string; readonly last: string } | null
  readonly isForwarding: boolean
  readonly coders: readonly AgentId[]
  readonly underWay: Readonly<Record<string, readonly string[]>>
  /** Architects who are free. */
  readonly architects: readonly AgentId[]
  /** All architects, one that is being made included. */
  readonly team: readonly AgentId[]
  /** Those of them who have asked a human, and are not free again. */
  readonly escalated: readonly AgentId[]
  /** The one who was asked for last, and by which effect. */
  readonly making: { readonly effect: EffectId; readonly agent: AgentId } | null
  readonly requests: readonly RequestWaiting[]
  readonly counts: Counts
}

type Counts = {
  readonly total: number
  /** Neither merged nor waived nor cut. */
  readonly left: number
  readonly failed: number
}

/** How many ready stories are looked at when one is chosen. */
const WINDOW = 64

/** More than there are coders and specs, each of which asks one thing at a time. */
const ARCHITECTS_MAX = 128

const EMPTY: DispatcherData = {
  ready: [],
  line: null,
  isForwarding: false,
  coders: [],
  underWay: {},
  architects: [],
  team: [],
  escalated: [],
  making: null,
  requests: [],
  counts: { total: 0, left: 0, failed: 0 },
}

export const dispatcherRole: Role = {
  name: 'dispatcher',
  machine: dispatcher1,
  recycles: false,
  initialData: EMPTY as unknown as JsonObject,
  handle,
}

function handle(agent: AgentView, event: AgentEvent): Decision {
  const data: DispatcherData = { ...EMPTY, ...agent.data }
  const payload = event.payload as unknown
  switch (event.type) {
    case CODER_IDLE: {
      const { agent: coder } = payload as IdleMessage
      return dispatch(agent, { ...data, coders: added(data.coders, coder) })
    }
    case ARCHITECT_IDLE: {
      const { agent: architect } = payload as IdleMessage
      const architects = added(data.architects, architect)
      return assign(agent, { ...known(data, architect), architects })
    }
    case ARCHITECT_ESCALATED: {
      const { agent: architect } = payload as IdleMessage
      const after = known(data, architect)
      return assign(agent, { ...after, escalated: [...after.escalated, architect] })
    }
    case EFFECT_FINISHED:
      return afterGrowing(agent, data, payload as FinishedEffect)
    case REQUEST_WAITING:
      return assign(agent, { ...data, requests: [...data.requests, payload as RequestWaiting] })
    case STORIES_LOADED:
      return open(agent, data, payload as StoriesLoaded)
    case STORY_READY:
      return takeReady(agent, data, payload as StoryReady)
    case STORY_OVER:
      return takeOver(agent, data, payload as StoryOver)
    case COUNT_STORIES: {
      const { left, failed } = data.counts
      const { agent: asker } = payload as IdleMessage
      return { send: [{ to: asker, type: STORIES_COUNTED, payload: { left, failed } }] }
    }
    default:
      return { reason: `not for a dispatcher: ${event.type}` }
  }
}

function open(agent: AgentView, data: DispatcherData, { count }: StoriesLoaded): Decision {
  // Of a further spec all stories may be there already, and nobody would end what is opened here.
  if (count === 0) return { reason: 'no story more' }
  const { total, left, failed } = data.counts
  const set = { counts: { total: total + count, left: left + count, failed } }
  return agent.state === 'CLOSED' ? { move: { event: 'stories_queued', to: 'OPEN' }, set } : { set }
}

/** A story that can be taken: into the window, or to the end of the line. */
function takeReady(agent: AgentView, data: DispatcherData, story: StoryReady): Decision {
  const { next, story: id, kind, files } = story
  const candidate: Candidate = { story: id, kind, files }
  if (next !== undefined) {
    const rest = data.line === null || next === null ? data.line : { ...data.line, first: next }
    const ready = id === '' ? data.ready : [...data.ready, candidate]
    return dispatch(agent, { ...data, ready, line: rest, isForwarding: false })
  }
  if (data.ready.length < WINDOW || kind === 'devops') {
    return dispatch(agent, { ...data, ready: [...data.ready, candidate] })
  }
  if (data.line === null) return { set: { line: { first: id, last: id } } }
  const behind = { to: storyOf(agent, data.line.last), type: NEXT_IN_LINE, payload: { story: id } }
  return { set: { line: { ...data.line, last: id } }, send: [behind] }
}

function takeOver(agent: AgentView, data: DispatcherData, over: StoryOver): Decision {
  const { story, state, wasFailed } = over
  const { [story]: _, ...underWay } = data.underWay
  const isOut = state !== 'REQUEUED' && state !== 'FAILED'
  const { total, left, failed } = data.counts
  const counts = {
    total,
    left: left - (isOut ? 1 : 0),
    failed: failed + (state === 'FAILED' ? 1 : 0) - (wasFailed ? 1 : 0),
  }
  const ready = data.ready.filter((candidate) => candidate.story !== story || state === 'REQUEUED')
  const after = { ...data, underWay, counts, ready }
  const books: Message = {
    to: ledgerOf(runOf(agent.id)),
    type: CLOSE_STORY,
    payload: { story },
  }
  const decision = dispatch(agent, after)
  const all = isOut ? { ...decision, send: [...(decision.send ?? []), books] } : decision
  if (counts.left > 0 || agent.state !== 'OPEN') return all
  return { ...all, move: { event: 'all_stories_completed', to: 'CLOSED' } }
}

/** Hands out stories as long as there are coders for them and stories that can go. */
function dispatch(agent: AgentView, before: DispatcherData): Decision {
  let data = before
  const send: Message[] = []
  for (;;) {
    const [coder, ...coders] = data.coders
    const chosen = chooseNext(data.ready, Object.values(data.underWay))
    if (coder === undefined || chosen === undefined) break
    const ready = data.ready.filter((candidate) => candidate !== chosen)
    const underWay = { ...data.underWay, [chosen.story]: chosen.files }
    data = { ...data, coders, ready, underWay }
    send.push({ to: storyOf(agent, chosen.story), type: STORY_TAKEN, payload: { coder } })
  }
  if (data.line !== null && !data.isForwarding && data.ready.length < WINDOW) {
    const { first, last } = data.line
    send.push({ to: storyOf(agent, first), type: COME_FORWARD, payload: null })
    // Who comes forward alone leaves no line behind; others who arrive meanwhile begin a new one.
    data = { ...data, isForwarding: true, line: first === last ? null : data.line }
  }
  return { set: changes(agent, data), send }
}

/** Brings requests to architects who are free; where all wait for humans, there is one more. */
function assign(agent: AgentView, data: DispatcherData): Decision {
  const [request, ...requests] = data.requests
  const [architect, ...architects] = data.architects
  if (request === undefined) return { set: changes(agent, data) }
  if (architect === undefined) return grow(agent, data)
  const payload = { request: request.request, architect }
  const message = { to: request.from, type: ARCHITECT_FREE, payload }
  const decision = assign(agent, { ...data, requests, architects })
  return { ...decision, send: [message, ...(decision.send ?? [])] }
}

/** Nobody knows when a human answers, and what others ask is not to wait for that. */
function grow(agent: AgentView, data: DispatcherData): Decision {
  const { team, escalated } = data
  const [like] = escalated
  const isNeeded = escalated.length === team.length && team.length < ARCHITECTS_MAX
  if (like === undefined || !isNeeded) return { set: changes(agent, data) }
  const further = firstBeside(team, runOf(agent.id))
  const effect = { kind: 'add_architect', input: { agent: further, like } }
  const making = { effect: effectIdOf(agent, 0), agent: further }
  return { set: changes(agent, { ...data, team: [...team, further], making }), effects: [effect] }
}

/** Of a team that a former version has not kept, there may be others than its length tells. */
function firstBeside(team: readonly AgentId[], run: string): AgentId {
  for (let number = 1; ; number += 1) {
    const architect = agentIdOf(run, `architect-${number}`)
    if (!team.includes(architect)) return architect
  }
}

/** Who is new says by itself that it is free. One that is not there is asked for once more. */
function afterGrowing(
  agent: AgentView,
  data: DispatcherData,
  { effect, result }: FinishedEffect,
): Decision {
  if (result.ok) return { reason: 'the team has one architect more' }
  const { team, making } = data
  // A former version kept no more than the team. Another is asked for only when all have joined.
  const missing =
    making === null ? team.at(-1) : making.effect === effect ? making.agent : undefined
  const left = team.filter((one) => one !== missing)
  return { set: changes(agent, { ...data, team: left }), reason: result.error.message }
}

/** An architect of the team, of whom the rest is to be said. */
function known(data: DispatcherData, architect: AgentId): DispatcherData {
  return {
    ...data,
    team: added(data.team, architect),
    architects: without(data.architects, architect),
    escalated: without(data.escalated, architect),
  }
}

/** Only what differs is stored with the row. */
function changes({ data }: AgentView, after: DispatcherData): JsonObject {
  const before: DispatcherData = { ...EMPTY, ...data }
  const keys = Object.keys(after) as (keyof DispatcherData)[]
  const changed = keys.filter((key) => before[key] !== after[key])
  return Object.fromEntries(changed.map((key) => [key, after[key] as unknown as Json]))
}

function added(agents: readonly AgentId[], agent: AgentId): readonly AgentId[] {
  return agents.includes(agent) ? agents : [...agents, agent]
}

function without(agents: readonly AgentId[], agent: AgentId): readonly AgentId[] {
  return agents.includes(agent) ? agents.filter((one) => one !== agent) : agents
}

function storyOf({ id }: AgentView, story: string): AgentId {
  return storyAgentOf(runOf(id), story)
}
