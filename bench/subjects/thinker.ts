import type { AgentEvent, AgentView, Decision, Role } from '../../src/agents/role.ts'
import type { Assignment, Mind } from '../../src/agents/thinking/assignment.ts'
import { beginThinking, continueThinking } from '../../src/agents/thinking/thinking.ts'
import { coderF } from '../../src/machines/tables/coder-f.ts'
import { ONWARD } from './walk.ts'

/** What a thinker is started with. */
type ThinkerStart = { readonly assignment: Assignment; readonly mind: Mind }

/** A coder that goes straight to CODING, thinks there until a tool ends it, and rests in TESTING. */
export const thinker: Role = {
  name: 'thinker',
  machine: coderF,
  recycles: false,
  initialData: {},
  handle,
}

function handle(agent: AgentView, event: AgentEvent): Decision {
  const move = ONWARD[agent.state ?? '']
  if (event.type === 'onward' && move !== undefined) {
    if (move.to !== 'CODING') {
      return { move, send: [{ to: agent.id, type: 'onward', payload: event.payload }] }
    }
    const { assignment, mind } = event.payload as unknown as ThinkerStart
    return { ...beginThinking(agent, assignment, mind).decision, move }
  }
  const step = continueThinking(agent, event)
  if (step === undefined) return { reason: 'not for us' }
  if (step.kind === 'going') return step.decision
  const how = step.kind === 'ended' ? 'ended' : JSON.stringify({ ...step, thinking: null })
  const set = { ...step.decision.set, how }
  return { ...step.decision, set, move: { event: 'code_completed', to: 'TESTING' } }
}
