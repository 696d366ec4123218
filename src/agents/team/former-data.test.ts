import { expect, test } from 'vitest'
import { agentIn, eventOf, SETTINGS } from '../../../test/team/agent-data.ts'
import { checkDecision } from '../../runtime/decision.ts'
import { RESERVE_SPENDING } from '../ledger-keeper.ts'
import type { AgentView, Decision, Role } from '../role.ts'
import { architect } from './architect.ts'
import { GO_ON } from './architect-case.ts'
import { CODER_REVISIONS } from './coder-revision.ts'
import { afterThinking } from './coder-thinking.ts'
import { workOf } from './coder-work.ts'
import { REQUEST, STORY_LOADED } from './protocol.ts'
import { storyRole } from './story-agent.ts'

/** What a former version has stored, before requests said what was required and what a spec is. */

const story = {
  id: 's',
  title: 'Say hello',
  description: 'Say it.',
  criteria: [],
  dependsOn: [],
  expectedFiles: [],
  kind: 'app',
}

/** What a role decides, which has to be something that can be stored. */
function decided(role: Role, agent: AgentView, type: string, payload: unknown): Decision {
  const decision = role.handle(agent, eventOf(type, payload))
  checkDecision(decision)
  return decision
}

const ASKS = [
  { kind: 'plan', plan: 'Write it.', round: 2, note: '' },
  { kind: 'completion', evidence: 'See b.js.' },
  {
    kind: 'budget_review',
    state: 'FIXING',
    used: 'turns',
    grants: 0,
    decisions: 'continue, abandon',
    plan: 'Write it.',
    failures: '',
    diff: null,
  },
  { kind: 'question', question: 'Why?', tried: '', plan: '' },
]

test.each(ASKS)('an architect, or a human in its place, decides a request: $kind', (ask) => {
  const role = architect('I')
  const request = { id: 'q', from: 'run/coder-1', story, settings: SETTINGS, ask }
  const free = agentIn('architect-1', 'MONITORING', { hasSpec: true })
  expect(decided(role, free, REQUEST, request).send).toMatchObject([{ type: RESERVE_SPENDING }])
  const cause = { scope: 'run', what: 'tokens', limit: 1, wanted: 2 }
  const spent = agentIn('architect-1', 'REQUEST', { request: { ...request, cause } })
  expect(decided(role, spent, GO_ON, null).effects).toMatchObject([{ kind: 'ask_human' }])
})

test('a coder asks a question about a story of which nobody kept the spec', () => {
  const work = { story, attempt: 1, lessons: [], settings: SETTINGS }
  const agent = agentIn('coder-1', 'CODING', { work, isAtWork: true })
  const c = { rules: CODER_REVISIONS.F, agent, work: workOf(agent) }
  const asking = { tool: 'ask_question', input: { question: 'Why?' }, decision: {} }
  const decision = afterThinking(c, { kind: 'ended', ...asking } as never)
  checkDecision(decision)
  expect(decision.set).toMatchObject({ pending: { ask: { kind: 'question', spec: null } } })
})

test('a story is loaded without its spec', () => {
  const agent = agentIn('story/s', 'BLOCKED', {})
  const loaded = { story, dependents: [], settings: SETTINGS }
  expect(decided(storyRole, agent, STORY_LOADED, loaded).set).toMatchObject({ spec: null })
})
