import { story1 } from '../../machines/tables/story-1.ts'
import type { Story } from '../../stories/story.ts'
import {
  type AgentEvent,
  type AgentView,
  type Decision,
  effectIdOf,
  type FinishedEffect,
  finishedEffect,
  type Message,
  type Role,
} from '../role.ts'
import type { AgentId, BlobRef, EffectId, Json, JsonObject } from '../values.ts'
import {
  CODER_IDLE,
  COME_FORWARD,
  DEPENDENCY_CUT,
  DEPENDENCY_FAILED,
  DEPENDENCY_MET,
  DEPENDENCY_RETRIED,
  type Dependency,
  dispatcherOf,
  type Lesson,
  NEXT_IN_LINE,
  type NextInLine,
  runOf,
  STORY,
  STORY_CLEARED,
  STORY_ENDED,
  STORY_LOADED,
  STORY_OVER,
  STORY_READY,
  STORY_TAKEN,
  type StoryEnded,
  type StoryLoaded,
  type StoryOver,
  type StoryTaken,
  storyAgentOf,
  type TeamSettings,
} from './protocol.ts'

/** What a story knows about itself. */
export type StoryData = {
  readonly story: Story
  readonly spec: BlobRef | null
  readonly settings: TeamSettings
  readonly dependents: readonly string[]
  /** Dependencies that are not there yet, and those of them that failed, with the reason. */
  readonly missing: readonly string[]
  readonly failed: Readonly<Record<string, string>>
  readonly coder: AgentId | null
  /** Attempts that count. */
  readonly attempts: number
  readonly lessons: readonly Lesson[]
  readonly commit: string | null
  /** What shows that nothing had to be done. */
  readonly tests?: JsonObject | null
  readonly nextInLine: string | null
  /** How the last attempt failed, while what it left is being cleared. */
  readonly ended: FailedEnd | null
  /** The question about a failure that a human has not answered. */
  readonly asked: EffectId | null
}

type FailedEnd = Extract<StoryEnded['end'], { kind: 'failed' }>

const REASON_CHARS_MAX = 300

/** What a removed key stands for. */
const UNSET = { spec: null, coder: null, commit: null, nextInLine: null, ended: null, asked: null }

/** From outside: the human takes the story out of the run, whether it failed or not. */
export const CUT_STORY = 'cut_story'

/** What a story is told about those that it depends on. */
const DEPENDENCY_TYPES: readonly string[] = [
  DEPENDENCY_MET,
  DEPENDENCY_FAILED,
  DEPENDENCY_RETRIED,
  DEPENDENCY_CUT,
]

/** What a human may decide about a story that failed. */
const HUMAN_CHOICES = ['retry', 'rewrite', 'waive', 'cut'] as const

/**
 * A story as an agent: it knows what it waits for and who waits for it, so that a merge concerns
 * its dependents and nobody else, however many stories there are.
 */
export const storyRole: Role = {
  name: 'story',
  machine: story1,
  recycles: false,
  initialData: {},
  handle,
}

function handle(agent: AgentView, event: AgentEvent): Decision {
  const data = { ...UNSET, ...(agent.data as unknown as StoryData) }
  const payload = event.payload as unknown
  if (event.type === STORY_LOADED) return load(agent, data, payload as StoryLoaded)
  if (data.story === undefined) return { reason: 'not loaded' }
  if (DEPENDENCY_TYPES.includes(event.type)) {
    const { story } = payload as Dependency
    // A further spec may have it depend on more, which came too late.
    if (!data.story.dependsOn.includes(story)) return { reason: `it does not need ${story}` }
  }
  switch (event.type) {
    case DEPENDENCY_MET:
      return meet(agent, data, payload as Dependency)
    case DEPENDENCY_FAILED:
    case DEPENDENCY_RETRIED:
      return noteFailure(agent, data, event.type, payload as Dependency)
    case STORY_TAKEN:
      return take(agent, data, payload as StoryTaken)
    case STORY_ENDED:
      return end(agent, data, payload as StoryEnded)
    case NEXT_IN_LINE:
      return { set: { nextInLine: (payload as NextInLine).story } }
    case COME_FORWARD:
      return { send: [ready(agent, data, data.nextInLine)], set: { nextInLine: null } }
    case CUT_STORY:
    case DEPENDENCY_CUT:
      return cut(agent, data)
    default:
      return takeOutcome(agent, data, event)
  }
}

function takeOutcome(agent: AgentView, data: StoryData, event: AgentEvent): Decision {
  const finished = finishedEffect(event)
  if (finished?.kind === 'clean_up' && data.ended !== null) return afterClearing(agent, data)
  if (finished !== undefined && finished.effect === data.asked) {
    return decideByHuman(agent, data, finished)
  }
  return { reason: `not for a story: ${event.type}` }
}

function load(agent: AgentView, before: StoryData, loaded: StoryLoaded): Decision {
  const { story, dependents, spec = null, settings } = loaded
  if (before.story !== undefined) return addDependents(agent, before, dependents)
  const data: StoryData = {
    ...UNSET,
    story,
    spec,
    settings,
    dependents,
    missing: story.dependsOn,
    failed: {},
    attempts: 0,
    lessons: [],
  }
  const set = data as unknown as JsonObject
  return story.dependsOn.length > 0 ? { set } : { ...becomeReady(agent, data), set }
}

/** Of a further spec, others may wait for a story that is there already, and perhaps over. */
function addDependents(agent: AgentView, data: StoryData, all: readonly string[]): Decision {
  const further = all.filter((name) => !data.dependents.includes(name))
  const set = { dependents: [...data.dependents, ...further] }
  const tell = (type: string, reason: string): Decision => ({
    set,
    send: tellDependents(agent, { ...data, dependents: further }, type, reason),
  })
  const [held] = Object.entries(data.failed)
  switch (agent.state) {
    case 'MERGED':
      return tell(DEPENDENCY_MET, 'merged')
    case 'WAIVED':
      return tell(DEPENDENCY_MET, 'waived')
    case 'CUT':
      return tell(DEPENDENCY_CUT, 'cut')
    case 'FAILED':
      return tell(DEPENDENCY_FAILED, attemptsFailed(data))
    default:
      return held === undefined ? { set } : tell(DEPENDENCY_FAILED, heldUp(...held))
  }
}

function meet(agent: AgentView, data: StoryData, { story }: Dependency): Decision {
  const missing = data.missing.filter((id) => id !== story)
  const { [story]: _, ...failed } = data.failed
  const set = { missing, failed }
  if (missing.length > 0 || agent.state !== 'BLOCKED') return { set }
  return { ...becomeReady(agent, data), set }
}

/** What stands in its way stands in the way of its own dependents too. */
function noteFailure(
  agent: AgentView,
  data: StoryData,
  type: string,
  { story, reason }: Dependency,
): Decision {
  const { [story]: before, ...others } = data.failed
  const failed = type === DEPENDENCY_FAILED ? { ...others, [story]: reason } : others
  const wasHeld = Object.keys(data.failed).length > 0
  const isHeld = Object.keys(failed).length > 0
  const send = wasHeld === isHeld ? [] : tellDependents(agent, data, type, heldUp(story, reason))
  return { set: { failed }, send }
}

function heldUp(story: string, reason: string): string {
  return `it waits for ${story}: ${reason}`.slice(0, REASON_CHARS_MAX)
}

function becomeReady(agent: AgentView, data: StoryData): Decision {
  return {
    move: { event: 'dependencies_met', to: 'READY' },
    send: [ready(agent, data, undefined)],
  }
}

/** `next` is for the dispatcher's line: null when this was the last in it. */
function ready(
  { id, state }: AgentView,
  { story }: StoryData,
  next: string | null | undefined,
): Message {
  const isGone = state === 'CUT'
  const { id: name, kind, expectedFiles: files } = story
  const payload = { story: isGone ? '' : name, kind, files, ...(next !== undefined && { next }) }
  return { to: dispatcherOf(runOf(id)), type: STORY_READY, payload }
}

function take(agent: AgentView, data: StoryData, { coder }: StoryTaken): Decision {
  const { story, spec, settings, lessons, attempts } = data
  if (agent.state !== 'READY') {
    const to = dispatcherOf(runOf(agent.id))
    const free: Message = { to, type: CODER_IDLE, payload: { agent: coder } }
    return { send: [report(agent, data, 'REQUEUED', false), free], reason: 'gone meanwhile' }
  }
  const work = { story, spec, settings, lessons, attempt: attempts + 1 } as unknown as Json
  return {
    move: { event: 'story_assigned', to: 'ASSIGNED' },
    set: { coder },
    send: [{ to: coder, type: STORY, payload: work }],
  }
}

/** What a failed attempt left is stored and cleared before anybody else takes the story up. */
function end(agent: AgentView, data: StoryData, { coder, end: ended }: StoryEnded): Decision {
  if (agent.state !== 'ASSIGNED' || data.coder !== coder) {
    return { send: [{ to: coder, type: STORY_CLEARED, payload: null }], reason: 'not its coder' }
  }
  if (ended.kind === 'failed') {
    const input = { run: data.settings.run, story: data.story.id }
    const set = { ended: ended as unknown as Json }
    return {
      set,
      effects: [{ kind: 'clean_up', input }],
      reason: ended.lesson.reason.slice(0, 500),
    }
  }
  const commit = ended.kind === 'merged' ? ended.commit : null
  const tests = ended.kind === 'merged' ? null : ended.tests
  const event = ended.kind === 'merged' ? 'merged' : 'completion_approved'
  return {
    move: { event, to: 'MERGED' },
    set: { commit, tests, coder: null },
    send: [
      report(agent, data, 'MERGED', false),
      ...tellDependents(agent, data, DEPENDENCY_MET, 'merged'),
    ],
  }
}

function afterClearing(agent: AgentView, data: StoryData): Decision {
  const { lesson, isCharged } = data.ended as FailedEnd
  const { limits } = data.settings
  const attempts = data.attempts + (isCharged ? 1 : 0)
  const lessons = [...data.lessons, lesson].slice(-limits.attempts)
  const set = { coder: null, ended: null, attempts, lessons } as unknown as JsonObject
  const isSame = isCharged && data.lessons.at(-1)?.fingerprint === lesson.fingerprint
  const after = { ...data, attempts, lessons }
  const cleared: Message[] =
    data.coder === null ? [] : [{ to: data.coder, type: STORY_CLEARED, payload: null }]
  if (attempts >= limits.attempts || isSame) {
    const failing = failForGood(agent, after, isSame)
    return {
      ...failing,
      set: { ...set, ...failing.set },
      send: [...cleared, ...(failing.send ?? [])],
    }
  }
  const again = [report(agent, after, 'REQUEUED', false), ready(agent, after, undefined)]
  return {
    move: { event: 'story_requeued', to: 'READY' },
    set,
    send: [...cleared, ...again],
    reason: lesson.reason.slice(0, 500),
    retry: { count: lessons.length, reason: lesson.reason.slice(0, 500) },
  }
}

/** Its dependents are told, and a human is asked. */
function failForGood(agent: AgentView, data: StoryData, isSame: boolean): Decision {
  const lesson = data.lessons.at(-1)
  const why = isSame ? 'it failed in the same way twice' : attemptsFailed(data)
  const [tests = ''] = (lesson?.failures ?? '').split('\n')
  const reason = `${why}. ${lesson?.reason ?? ''}${tests === '' ? '' : ` (tests: ${tests})`}`
  return {
    ...ask(agent, data, `The story "${data.story.title}" failed: ${reason}`),
    move: { event: 'attempts_exhausted', to: 'FAILED' },
    send: [
      report(agent, data, 'FAILED', false),
      ...tellDependents(agent, data, DEPENDENCY_FAILED, why),
    ],
    reason: reason.slice(0, 500),
  }
}

function attemptsFailed({ attempts }: StoryData): string {
  return attempts === 1 ? 'its only attempt failed' : `${attempts} attempts failed`
}

function ask(agent: AgentView, { story }: StoryData, question: string): Decision {
  const input = { about: story.id, kind: 'story', question, choices: HUMAN_CHOICES }
  return { set: { asked: effectIdOf(agent, 0) }, effects: [{ kind: 'ask_human', input }] }
}

/** The human's answer: { choice, text }. One that says nothing is asked for again. */
function decideByHuman(agent: AgentView, data: StoryData, { result }: FinishedEffect): Decision {
  const answer = (result.ok ? result.value : {}) as JsonObject
  const text = String(answer.text ?? '').trim()
  switch (answer.choice) {
    case 'waive':
      return {
        move: { event: 'story_waived', to: 'WAIVED' },
        set: { asked: null },
        send: [
          report(agent, data, 'WAIVED', true),
          ...tellDependents(agent, data, DEPENDENCY_MET, 'waived'),
        ],
      }
    case 'cut':
      return cut(agent, { ...data, asked: null })
    case 'retry':
      return retry(agent, data, data.story.description)
    case 'rewrite':
      if (text !== '') return retry(agent, data, text)
      return ask(agent, data, `How should "${data.story.title}" be written? The text was empty.`)
    default:
      return ask(agent, data, `"${data.story.title}" failed. ${HUMAN_CHOICES.join(', ')}?`)
  }
}

function retry(agent: AgentView, data: StoryData, description: string): Decision {
  const story = { ...data.story, description }
  const after = { ...data, story }
  return {
    move: { event: 'story_retried', to: 'READY' },
    set: { story: story as unknown as Json, attempts: 0, asked: null },
    send: [
      report(agent, after, 'REQUEUED', true),
      ready(agent, after, undefined),
      ...tellDependents(agent, after, DEPENDENCY_RETRIED, 'it is tried again'),
    ],
  }
}

/** What depends on it cannot be built either, and goes with it. */
function cut(agent: AgentView, data: StoryData): Decision {
  if (!['BLOCKED', 'READY', 'FAILED'].includes(agent.state ?? '')) return { reason: 'too late' }
  return {
    move: { event: 'story_cut', to: 'CUT' },
    set: { asked: null },
    cancel: data.asked === null ? [] : [data.asked],
    send: [
      report(agent, data, 'CUT', agent.state === 'FAILED'),
      ...tellDependents(agent, data, DEPENDENCY_CUT, 'cut'),
    ],
  }
}

function report(
  { id }: AgentView,
  { story }: StoryData,
  state: StoryOver['state'],
  wasFailed: boolean,
): Message {
  const payload = { story: story.id, state, wasFailed } satisfies StoryOver
  return { to: dispatcherOf(runOf(id)), type: STORY_OVER, payload }
}

function tellDependents(
  { id }: AgentView,
  { dependents, story }: StoryData,
  type: string,
  reason: string,
): readonly Message[] {
  const payload = { story: story.id, reason } satisfies Dependency
  return dependents.map((name) => ({ to: storyAgentOf(runOf(id), name), type, payload }))
}
