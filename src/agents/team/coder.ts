import { type AgentEvent, type Decision, finishedEffect, type Message, type Role } from '../role.ts'
import { abandonThinking, continueThinking } from '../thinking/thinking.ts'
import type { AgentId, Json } from '../values.ts'
import { takeResponse } from './coder-answers.ts'
import { type CoderCase, cleanUp, GAVE_IN } from './coder-case.ts'
import { takeOutcome } from './coder-outcomes.ts'
import { CODER_REVISIONS } from './coder-revision.ts'
import { afterThinking, reviewBudget } from './coder-thinking.ts'
import { asData, NO_COUNTS, workOf } from './coder-work.ts'
import { joined } from './decisions.ts'
import {
  ARCHITECT_FREE,
  ARCHITECT_IDLE,
  type ArchitectFree,
  CHANNEL_CLOSED,
  CODER_IDLE,
  dispatcherOf,
  REQUEST,
  REQUEST_WAITING,
  RESPONSE,
  type ResponseMessage,
  runOf,
  STORY,
  STORY_CLEARED,
  STORY_ENDED,
  type StoryEnded,
  type StoryMessage,
  storyAgentOf,
} from './protocol.ts'

/** The behaviour of a coder under one revision of its document. */
export function coder(revision: keyof typeof CODER_REVISIONS): Role {
  const rules = CODER_REVISIONS[revision]
  return {
    name: `coder@${revision}`,
    machine: rules.machine,
    recycles: true,
    // A story is taken up a few times at most, whichever coder fails at it.
    failuresAreWork: true,
    initialData: {},
    greet: ({ id }) => [idle(id)],
    handle: (agent, event) => decide({ rules, agent, work: workOf(agent) }, event),
  }
}

function idle(agent: AgentId): Message {
  return { to: dispatcherOf(runOf(agent)), type: CODER_IDLE, payload: { agent } }
}

function decide(c: CoderCase, event: AgentEvent): Decision {
  const { type, payload } = event
  if (type === STORY) return takeStory(c, payload as unknown as StoryMessage)
  if (type === ARCHITECT_FREE) return sendRequest(c, payload as unknown as ArchitectFree)
  if (type === CHANNEL_CLOSED) return comeBack(c)
  if (!c.work.isAtWork) return { reason: `no story for ${type}` }
  if (type === 'suspension_timed_out') return endSuspension(c)
  if (type === STORY_CLEARED) return endGeneration(c)
  const step = continueThinking(c.agent, event)
  if (step !== undefined) return afterThinking(c, step)
  if (type === GAVE_IN) return reviewBudget(c, {}, String(payload))
  if (type === RESPONSE) return takeResponse(c, payload as unknown as ResponseMessage)
  const finished = finishedEffect(event)
  return finished === undefined ? { reason: `not for a coder: ${type}` } : takeOutcome(c, finished)
}

function endSuspension(c: CoderCase): Decision {
  const decision = cleanUp(c, 'the services did not come back', false)
  return c.agent.state === 'ERROR' ? joined(abandonThinking(c.agent), decision) : decision
}

function takeStory({ agent }: CoderCase, work: StoryMessage): Decision {
  const { run, target } = work.settings
  if (agent.state !== 'WAITING') return handBack(agent.id, work)
  return {
    move: { event: 'story_assigned', to: 'SETUP' },
    set: asData({ work, isAtWork: true, counts: NO_COUNTS }),
    effects: [{ kind: 'prepare_workspace', input: { run, story: work.story.id, target } }],
  }
}

/** A story is never dropped: another coder takes it, and no attempt is counted. */
function handBack(coder: AgentId, { story, settings }: StoryMessage): Decision {
  const lesson = { reason: 'its coder was busy', fingerprint: 'busy', failures: '', diff: null }
  const end = { kind: 'failed', lesson, isCharged: false } as const
  const payload = { coder, end } satisfies StoryEnded
  const to = storyAgentOf(settings.run, story.id)
  return { send: [{ to, type: STORY_ENDED, payload }], reason: 'busy' }
}

/** Whoever is idle says so again, and whoever waits for an answer asks again. */
function comeBack({ agent, rules, work }: CoderCase): Decision {
  if (agent.state === 'WAITING') {
    return rules.channelClosed === null
      ? { send: [idle(agent.id)] }
      : { move: rules.channelClosed, reason: 'what brings stories was lost' }
  }
  if (work.pending === null) return { reason: 'at work' }
  const payload = { request: work.pending.id, from: agent.id }
  return { send: [{ to: dispatcherOf(runOf(agent.id)), type: REQUEST_WAITING, payload }] }
}

/** The orchestrator has stored and cleared what was left; where ERROR is no end, that ends it. */
function endGeneration({ agent, rules }: CoderCase): Decision {
  return agent.state === 'ERROR' && rules.cleansUpInError
    ? { move: { event: 'cleaned_up', to: 'DONE' }, reason: 'its work is stored' }
    : { reason: 'it ends by itself' }
}

/** The request goes to the architect who is free; one that nobody waits for any more does not. */
function sendRequest({ agent, work }: CoderCase, { request, architect }: ArchitectFree): Decision {
  const { pending } = work
  if (pending?.id === request) {
    const payload = pending as unknown as Json
    return { send: [{ to: architect, type: REQUEST, payload }] }
  }
  const dispatcher = dispatcherOf(runOf(agent.id))
  return { send: [{ to: dispatcher, type: ARCHITECT_IDLE, payload: { agent: architect } }] }
}
