import { type CoderWork, workOf } from '../../agents/team/coder-work.ts'
import { SPEC_BROUGHT } from '../../agents/team/pm-case.ts'
import {
  CHANNEL_CLOSED,
  type RequestMessage,
  STORY_ENDED,
  type StoryEnded,
  storyAgentOf,
} from '../../agents/team/protocol.ts'
import type { AgentId, Json } from '../../agents/values.ts'
import type { AgentRecord } from '../../runtime/records.ts'

/** Something to be told before an agent is revived. Mail to itself waits until it is. */
export interface Told {
  readonly agent: AgentId
  readonly type: string
  readonly payload: Json
}

/**
 * What brings a halted agent's work to somebody: its story is tried again, its request is asked
 * again, its document is read again. Undefined for agents whose data is the run's own order:
 * nothing could make that up.
 */
export function rescueOf(agent: AgentRecord): readonly Told[] | undefined {
  const { role, data, id } = agent
  if (role.startsWith('coder@')) return endedStory(agent)
  if (role.startsWith('architect@')) {
    const request = data.request as unknown as RequestMessage | undefined
    return request ? [cutOff(request.from)] : []
  }
  if (role !== 'pm') return undefined
  const { brought } = data
  return brought === undefined ? [] : [{ agent: id, type: SPEC_BROUGHT, payload: brought }]
}

function endedStory(agent: AgentRecord): readonly Told[] {
  const { isAtWork, work, diff, tests }: CoderWork = workOf(agent)
  if (!isAtWork) return []
  const reason = `its coder was halted in ${agent.state}`
  const lesson = { reason, fingerprint: reason, failures: tests, diff }
  const payload: StoryEnded = {
    coder: agent.id,
    end: { kind: 'failed', lesson, isCharged: true },
  }
  const story = storyAgentOf(work.settings.run, work.story.id)
  return [{ agent: story, type: STORY_ENDED, payload: payload as unknown as Json }]
}

/** What tells an agent that the way by which it gets work was lost, and is there anew. */
export const cutOff = (agent: AgentId): Told => ({ agent, type: CHANNEL_CLOSED, payload: null })
