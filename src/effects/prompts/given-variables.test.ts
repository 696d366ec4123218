import { expect, test } from 'vitest'
import {
  agentIn as agentAt,
  eventOf as event,
  MIND,
  SETTINGS,
} from '../../../test/team/agent-data.ts'
import { COORDINATOR_REVISIONS } from '../../agents/coordinator/coordinator-revision.ts'
import { build, review, takeReview } from '../../agents/coordinator/implementation.ts'
import { discussReview, discussTests, propose } from '../../agents/coordinator/proposal.ts'
import type { TaskCase } from '../../agents/coordinator/task-case.ts'
import { taskWorkOf } from '../../agents/coordinator/task-work.ts'
import { type AgentView, type Decision, EFFECT_FINISHED } from '../../agents/role.ts'
import { architect } from '../../agents/team/architect.ts'
import { coder } from '../../agents/team/coder.ts'
import { GAVE_IN } from '../../agents/team/coder-case.ts'
import { pmRole } from '../../agents/team/pm.ts'
import { SPEC_BROUGHT } from '../../agents/team/pm-case.ts'
import {
  type Ask,
  DEFAULT_LIMITS,
  REQUEST,
  RESPONSE,
  type RequestMessage,
} from '../../agents/team/protocol.ts'
import type { Assignment } from '../../agents/thinking/assignment.ts'
import type { Json } from '../../agents/values.ts'
import { TASKS, type TaskName } from './prompt-catalog.ts'
import { type PromptVariables, renderPrompt } from './prompts.ts'

const minds = { ...SETTINGS.minds, reviewer: MIND, tester: MIND }
const limits = { ...DEFAULT_LIMITS, taskRounds: 3 }
const settings = { ...SETTINGS, minds, limits }
const story = {
  id: 's',
  title: 'A story',
  description: 'Write it.',
  criteria: [{ id: '1', text: 'It is there.' }],
  dependsOn: [],
  expectedFiles: [],
  kind: 'app',
  estimate: 'small',
}
const BLOB = { sha256: 'x', bytes: 1 }
const RED = { verdict: 'failed', message: 'red', commands: [], fingerprint: 'f' }
const PLACE = { folder: '/w', branch: 'b', base: 'c' }

const agentIn = (state: string, data: object, origin: string | null = null) =>
  agentAt('agent', state, data, origin)
const finished = (kind: string, value: unknown) =>
  event(EFFECT_FINISHED, { effect: 'e', kind, result: { ok: true, value } })

/** What a coder has in its data after all that may happen to it. */
function coderIn(state: string, more: object = {}, origin: string | null = null): AgentView {
  const lesson = { reason: 'too slow', fingerprint: 'f', failures: 'red', diff: BLOB }
  const work = { story, attempt: 2, lessons: [lesson], spec: BLOB, settings }
  const counts = { ...{ planRounds: 1, codeRounds: 1, grants: 1 }, sameFailures: 1, mergeRounds: 1 }
  const known = { plan: 'Do it.', head: 'abc', diff: BLOB, tests: 'was red', failure: 'f' }
  const earlier = { plan: 'Name the test.', code: 'Mend b.js.' }
  const pending = { id: 'q', ask: { kind: 'plan' } }
  const ground = { assignment: { turnsMax: 80 }, mind: MIND }
  const thinking = { thinking: { turn: 80, notes: [], known: {} }, ground }
  const said = { earlier, answers: 'Why?\n> So.' }
  const data = { work, isAtWork: true, place: PLACE, counts, pending, ...known, ...said }
  return agentIn(state, { ...data, isBegun: true, ...thinking, ...more }, origin)
}

const said = (status: string, more: object = {}) =>
  event(RESPONSE, { request: 'q', status, feedback: 'Mind the edges.', ...more })
const fixing = (kind: string) => ({
  fix: { kind, text: 'red', earlier: 'was red' },
  spent: 'context',
})
const granted = said('APPROVED', { budget: 'continue' })

/** Every way to a task of a coder. */
function coderMoments(): readonly Decision[] {
  const f = coder('F').handle
  const d = coder('D').handle
  return [
    f(coderIn('SETUP'), finished('prepare_workspace', PLACE)),
    f(coderIn('PLAN_REVIEW'), said('NEEDS_CHANGES')),
    d(coderIn('PLAN_REVIEW'), finished('run_tests', RED)),
    d(coderIn('BUDGET_REVIEW'), said('APPROVED', { budget: 'replan' })),
    f(coderIn('PLAN_REVIEW'), said('APPROVED')),
    f(coderIn('BUDGET_REVIEW', { spent: 'context' }, 'CODING'), granted),
    f(coderIn('TESTING'), finished('run_tests', RED)),
    f(coderIn('CODE_REVIEW'), said('NEEDS_CHANGES')),
    f(coderIn('FIXING', fixing('conflict')), finished('prepare_workspace', PLACE)),
    ...['tests', 'review', 'conflict'].map((kind) =>
      f(coderIn('BUDGET_REVIEW', fixing(kind), 'FIXING'), granted),
    ),
  ]
}

const EARLIER = { round: 2, note: 'Its budget was spent.', earlier: 'Name the test.' }
const askOf = ({ set = {} }: Decision) => (set.pending as unknown as RequestMessage).ask
const ASKS: readonly Ask[] = [
  { kind: 'question', question: 'Why?', tried: 'To read.', plan: 'Do it.', spec: BLOB },
  { kind: 'plan', plan: 'Do it.', ...EARLIER },
  { kind: 'code', diff: BLOB, head: 'abc', tests: 'green', ...EARLIER },
  { kind: 'completion', evidence: 'See b.js.', earlier: 'Name the test.' },
  askOf(coder('F').handle(coderIn('FIXING'), event(GAVE_IN, 'the tests fail again and again'))),
  {
    kind: 'spec',
    spec: { title: 'A spec', body: 'Build it.', criteria: story.criteria },
    round: 2,
    problems: 'What is it?',
  },
]

function architectMoments(): readonly Decision[] {
  const { handle } = architect('I')
  return ASKS.map((ask) => {
    const request = { id: 'q', from: 'run/coder-1', settings, ask }
    const about = { ...request, story: ask.kind === 'spec' ? null : story }
    const taken = handle(agentIn('MONITORING', { hasSpec: true }), event(REQUEST, about))
    if (ask.kind !== 'spec') return taken
    const preparing = agentIn('REQUEST', { hasSpec: true, ...taken.set })
    return handle(preparing, finished('prepare_workspace', PLACE))
  })
}

function pmMoments(): readonly Decision[] {
  const { handle } = pmRole
  const brought = { document: 'A thing.', settings, preview: 'auto', isWish: false }
  const spec = { title: 'A spec', body: 'Build it.', criteria: story.criteria }
  const data = { brought, spec, pending: { id: 'q' }, interview: 'Why? > So.', asked: 'e' }
  return [
    handle(agentIn('WAITING', {}), event(SPEC_BROUGHT, { ...brought, isWish: true })),
    handle(agentIn('WAITING', {}), event(SPEC_BROUGHT, brought)),
    handle(agentIn('INTERVIEWING', data), finished('ask_human', { text: 'So.' })),
    handle(agentIn('SPEC_REVIEW', data), said('NEEDS_CHANGES')),
  ]
}

function coordinatorMoments(): readonly Decision[] {
  const round = { number: 1, kind: 'discussion', startedMs: 0, endedMs: 1, cameTo: 'x' }
  const known = { rounds: 1, 'round:1': { ...round, proposal: 'So.' }, known: [{ argv: ['make'] }] }
  const done = { proposal: 'So.', mustFix: '- b.js', diff: BLOB, head: 'abc', failure: 'f' }
  const task = { settings, task: 'Do it.', followUps: ['And this.'], tries: 1, ...known, ...done }
  const agent = agentIn('plan', task)
  const rules = COORDINATOR_REVISIONS['2']
  const c: TaskCase = { rules, agent, work: taskWorkOf(agent), atMs: 0 }
  const lists = { must_fix: [], nice_to_have: [], tests: ['the edges'], security: [] }
  return [
    propose(c),
    discussReview(c, {}, { proposal: 'So.' }),
    discussTests(c, {}, { opinion: 'Good.' }),
    build(c),
    review(c, { ok: true, value: RED as unknown as Json }),
    takeReview(c, {}, { decision: 'approve', ...lists }),
  ]
}

const assignments = [
  ...coderMoments(),
  ...architectMoments(),
  ...pmMoments(),
  ...coordinatorMoments(),
].flatMap(({ set }) => {
  const ground = set?.ground as unknown as { assignment?: Assignment } | undefined
  return ground?.assignment === undefined ? [] : [ground.assignment]
})

const tasks = Object.keys(TASKS) as TaskName[]

test.each(tasks)('%s is given each of its variables by some role, and no other', (task) => {
  const given = assignments
    .filter((assignment) => assignment.task === task)
    .flatMap(({ variables }) => Object.entries(variables))
    .flatMap(([name, value]) => (value === '' ? [] : [name]))
  expect([...new Set(given)].sort()).toEqual(Object.keys(TASKS[task].variables).sort())
})

test.each(tasks)('%s reads as one sentence where words are joined', (task) => {
  for (const { variables } of assignments.filter((assignment) => assignment.task === task)) {
    const none = Object.keys(TASKS[task].variables).map((name) => [name, ''])
    const given = Object.entries(variables).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : 'a blob',
    ])
    const values = Object.fromEntries([...none, ...given]) as PromptVariables<`${TaskName}.task`>
    expect(renderPrompt(`${task}.task`, values)).not.toMatch(/\b(the|an?|used) (the|an?|its)\b/i)
  }
})
