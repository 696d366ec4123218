import { expect, test } from 'vitest'
import { checkDecision } from '../../runtime/decision.ts'
import { RESERVE_SPENDING } from '../ledger-keeper.ts'
import type { AgentView, Decision, Role } from '../role.ts'
import type { AgentId, Json, JsonObject } from '../values.ts'
import { architect } from './architect.ts'
import { GO_ON } from './architect-case.ts'
import { CODER_REVISIONS } from './coder-revision.ts'
import { afterThinking } from './coder-thinking.ts'
import { workOf } from './coder-work.ts'
import { DEFAULT_LIMITS, REQUEST, STORY_LOADED } from './protocol.ts'
import { storyRole } from './story-agent.ts'

/** What a former version has stored, before requests said what was required and what a spec is. */

const mind = {
  brain: 'model',
  contextTokens: 100_000,
  outputTokensMax: 4_096,
  price: null,
  ledger: 'run/ledger' as AgentId,
}
const minds = { pm: mind, architect: mind, coder: mind }
const settings = { run: 'run', limits: DEFAULT_LIMITS, minds, planReview: 'model', tests: {} }
const story = {
  id: 's',
  title: 'Say hello',
  description: 'Say it.',
  criteria: [],
  dependsOn: [],
  expectedFiles: [],
  kind: 'app',
}

const agentIn = (place: string, state: string, data: object): AgentView => ({
  id: `run/${place}` as AgentId,
  state,
  origin: null,
  data: data as JsonObject,
  generation: 1,
  seq: 1,
})

/** What a role decides, which has to be something that can be stored. */
function decided(role: Role, agent: AgentView, type: string, payload: unknown): Decision {
  const decision = role.handle(agent, { id: 'e', type, payload: payload as Json, atMs: 0 })
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
  const request = { id: 'q', from: 'run/coder-1', story, settings, ask }
  const free = agentIn('architect-1', 'MONITORING', { hasSpec: true })
  expect(decided(role, free, REQUEST, request).send).toMatchObject([{ type: RESERVE_SPENDING }])
  const cause = { scope: 'run', what: 'tokens', limit: 1, wanted: 2 }
  const spent = agentIn('architect-1', 'REQUEST', { request: { ...request, cause } })
  expect(decided(role, spent, GO_ON, null).effects).toMatchObject([{ kind: 'ask_human' }])
})

test('a coder asks a question about a story of which nobody kept the spec', () => {
  const work = { story, attempt: 1, lessons: [], settings }
  const agent = agentIn('coder-1', 'CODING', { work, isAtWork: true })
  const c = { rules: CODER_REVISIONS.F, agent, work: workOf(agent) }
  const asking = { tool: 'ask_question', input: { question: 'Why?' }, decision: {} }
  const decision = afterThinking(c, { kind: 'ended', ...asking } as never)
  checkDecision(decision)
  expect(decision.set).toMatchObject({ pending: { ask: { kind: 'question', spec: null } } })
})

test('a story is loaded without its spec', () => {
  const agent = agentIn('story/s', 'BLOCKED', {})
  const loaded = { story, dependents: [], settings }
  expect(decided(storyRole, agent, STORY_LOADED, loaded).set).toMatchObject({ spec: null })
})
