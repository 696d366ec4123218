import type { AgentEvent, AgentView, Decision, Role } from '../../src/agents/role.ts'
import type { Mind } from '../../src/agents/thinking/assignment.ts'
import {
  beginThinking,
  continueThinking,
  type ThinkingStep,
} from '../../src/agents/thinking/thinking.ts'
import type { Json } from '../../src/agents/values.ts'
import type { EventName } from '../../src/machines/events.ts'
import { coderF } from '../../src/machines/tables/coder-f.ts'

/** What the agent is started with. */
export type Start = {
  readonly run: string
  readonly story: string
  readonly mind: Mind
  readonly turnsMax: number
}

/**
 * A coder reduced to its thinking: it plans, approves its own plan, and codes until it is done,
 * which is TESTING. What came of it is in its data.
 */
export const thinkingRole: Role = {
  name: 'thinker',
  machine: coderF,
  recycles: false,
  initialData: {},
  handle,
}

function handle(agent: AgentView, event: AgentEvent): Decision {
  switch (event.type) {
    case 'start':
      return {
        move: { event: 'story_assigned', to: 'SETUP' },
        set: { start: event.payload },
        send: [{ to: agent.id, type: 'set_up', payload: null }],
      }
    case 'set_up':
      return begin(agent, 'PLANNING', { event: 'workspace_ready', to: 'PLANNING' })
    case 'approved':
      return begin(agent, 'CODING', { event: 'review_approved', to: 'CODING' })
    default: {
      const step = continueThinking(agent, event)
      return step === undefined ? { reason: 'not for us' } : after(agent, step)
    }
  }
}

function begin(
  agent: AgentView,
  state: 'PLANNING' | 'CODING',
  move: { event: EventName; to: string },
): Decision {
  const { run, story, mind, turnsMax } = agent.data.start as unknown as Start
  const variables = { story: `The story ${story}.`, criteria: '1. It works.', turns: `${turnsMax}` }
  const step = beginThinking(
    agent,
    {
      task: state === 'PLANNING' ? 'coder/planning' : 'coder/coding',
      withheld: [],
      state,
      story,
      workspace: { run, story },
      variables: state === 'PLANNING' ? variables : { ...variables, plan: 'Do it.' },
      turnsMax,
    },
    mind,
  )
  return { ...step.decision, move }
}

function after({ id, state }: AgentView, step: ThinkingStep): Decision {
  const { decision, thinking } = step
  const set = { ...decision.set, outcome: outcomeOf(step), turns: thinking.turn }
  if (step.kind === 'going') return decision
  const also = { ...decision, set }
  if (step.kind === 'ended' && step.tool === 'submit_plan') {
    const approved = { to: id, type: 'approved', payload: null }
    const move = { event: 'plan_submitted', to: 'PLAN_REVIEW' } as const
    return { ...also, move, send: [...(decision.send ?? []), approved] }
  }
  if (step.kind === 'ended' && step.tool === 'done') {
    return { ...also, move: { event: 'code_completed', to: 'TESTING' } }
  }
  if (step.kind === 'spent') {
    return { ...also, move: { event: 'budget_exhausted', to: 'BUDGET_REVIEW' } }
  }
  if (state === 'PLANNING') return { ...also, move: { event: 'question_asked', to: 'QUESTION' } }
  return { ...also, move: { event: 'failed_unrecoverably', to: 'ERROR' } }
}

function outcomeOf({ thinking: _, decision: __, ...outcome }: ThinkingStep): Json {
  return outcome as unknown as Json
}
