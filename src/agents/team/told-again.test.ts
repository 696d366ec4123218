import { expect, test } from 'vitest'
import { MIND, SETTINGS } from '../../../test/team/agent-data.ts'
import type { Story } from '../../stories/story.ts'
import { type AgentView, EFFECT_FINISHED } from '../role.ts'
import type { Assignment } from '../thinking/assignment.ts'
import { beginThinking } from '../thinking/thinking.ts'
import type { AgentId, Json, JsonObject } from '../values.ts'
import { taskOf } from './architect-tasks.ts'
import { coder } from './coder.ts'
import { CODER_REVISIONS } from './coder-revision.ts'
import { afterThinking } from './coder-thinking.ts'
import { workOf } from './coder-work.ts'
import { RESPONSE, type ResponseMessage } from './protocol.ts'

const story: Story = {
  id: 'b',
  title: 'B',
  description: 'Write b.',
  criteria: [{ id: '1', text: 'It is there.' }],
  dependsOn: [],
  expectedFiles: [],
  kind: 'app',
  estimate: 'small',
}
const assignment = {
  task: 'coder/planning',
  withheld: [],
  state: 'PLANNING',
  story: 'b',
  workspace: null,
  variables: {},
  turnsMax: 30,
}

/** A coder that plans, and what its reviewer reads. */
function planning(revision: 'D' | 'F') {
  const role = coder(revision)
  const work = { story, attempt: 1, lessons: [], spec: SPEC, settings: SETTINGS }
  const fresh = { id: 'run/coder-1' as AgentId, state: 'PLANNING', origin: null, generation: 1 }
  const begun = beginThinking({ ...fresh, data: {}, seq: 1 }, assignment, MIND).decision.set
  const data = { ...begun, work, isAtWork: true, place: { folder: '/w', branch: 'b' } }
  let agent: AgentView = { ...fresh, data: data as unknown as JsonObject, seq: 1 }
  const take = ({ set, move }: ReturnType<typeof role.handle>) => {
    const { state, seq } = agent
    agent = { ...agent, data: { ...agent.data, ...set }, state: move?.to ?? state, seq: seq + 1 }
  }
  const the = () => ({ rules: CODER_REVISIONS[revision], agent, work: workOf(agent) })
  return {
    ends: (tool: string, input: JsonObject) => {
      const step = { kind: 'ended', tool, input, decision: {} } as never
      take(afterThinking(the(), step))
    },
    finishes: (kind: string, value: object) => {
      const result = { ok: true, value } as unknown as Json
      const payload = { effect: 'e', kind, result }
      take(role.handle(agent, { id: 'e', type: EFFECT_FINISHED, payload, atMs: 0 }))
    },
    isTold: (status: ResponseMessage['status'], feedback: string, more: JsonObject = {}) => {
      const request = workOf(agent).pending?.id ?? ''
      const payload = { request, status, feedback, ...more }
      take(role.handle(agent, { id: 'e', type: RESPONSE, payload, atMs: 0 }))
    },
    /** Its state is left for one from which it comes back. */
    givesUp: (what: string) => {
      const { state } = agent
      const step = { kind: 'spent', what, decision: {} } as never
      take(afterThinking(the(), step))
      agent = { ...agent, origin: state }
    },
    reads: () => (agent.data.ground as unknown as { assignment: Assignment }).assignment,
    reviewerReads: () => {
      const { pending } = workOf(agent)
      return pending === null ? undefined : taskOf(pending)
    },
  }
}

const SPEC = { sha256: 'spec', bytes: 9 }
const GREEN = { verdict: 'passed', message: 'passed', commands: [], counts: null }
const RED = { verdict: 'failed', message: 'failed', commands: [], fingerprint: 'f' }
const COMMIT = { head: 'abc', diff: { sha256: 'x', bytes: 1 } }

test.each(['D', 'F'] as const)(
  'coder@%s: who reviews a plan again reads what was required in every earlier round',
  (revision) => {
    const { ends, isTold, reviewerReads } = planning(revision)
    ends('submit_plan', { plan: 'Write it.' })
    expect(reviewerReads()?.variables).toMatchObject({ remarks: '' })
    isTold('NEEDS_CHANGES', '- name the test')
    ends('submit_plan', { plan: 'Write it, and test/b.' })
    isTold('NEEDS_CHANGES', '- name the file')
    ends('submit_plan', { plan: 'Write src/b, and test/b.' })
    expect(reviewerReads()).toMatchObject({
      task: 'architect/plan-review',
      variables: { remarks: 'Round 1:\n- name the test\n\nRound 2:\n- name the file' },
    })
  },
)

test.each(['D', 'F'] as const)(
  'coder@%s: who checks a claim again reads what was missing before, also by the tests',
  (revision) => {
    const { ends, finishes, isTold, reviewerReads } = planning(revision)
    ends('mark_story_complete', { evidence: 'It is there.' })
    isTold('NEEDS_CHANGES', '- no test shows it')
    ends('mark_story_complete', { evidence: 'See test/b.' })
    isTold('APPROVED', '')
    finishes('run_tests', RED)
    ends('mark_story_complete', { evidence: 'See test/b now.' })
    const { task, variables } = reviewerReads() ?? {}
    expect(task).toBe('architect/completion-review')
    expect(variables?.remarks).toContain('- no test shows it')
    expect(variables?.remarks).toContain('the tests do not pass')
  },
)

test.each(['D', 'F'] as const)(
  'coder@%s: tests that fail between two reviews do not hide what the first required',
  (revision) => {
    const { ends, finishes, isTold, reviewerReads } = planning(revision)
    ends('submit_plan', { plan: 'Write it.' })
    isTold('APPROVED', '')
    ends('done', { summary: 'Written.' })
    finishes('checkpoint', COMMIT)
    finishes('run_tests', GREEN)
    isTold('NEEDS_CHANGES', '- b.js:1 is empty')
    for (const run of [RED, GREEN]) {
      ends('done', { summary: 'Put right.' })
      finishes('checkpoint', COMMIT)
      finishes('run_tests', run)
    }
    expect(reviewerReads()).toMatchObject({
      task: 'architect/code-review',
      variables: { remarks: 'Round 1:\n- b.js:1 is empty' },
    })
  },
)

test('what was required stays within its bound, with the first and the last of it', () => {
  const { ends, isTold, reviewerReads } = planning('F')
  for (let i = 1; i <= 20; i += 1) {
    ends('mark_story_complete', { evidence: 'It is there.' })
    isTold('NEEDS_CHANGES', `missing ${i}: ${'x'.repeat(2_000)}`)
  }
  ends('mark_story_complete', { evidence: 'It is there.' })
  const remarks = String(reviewerReads()?.variables.remarks)
  expect(remarks.length).toBeLessThan(13_000)
  expect(remarks).toContain('missing 1:')
  expect(remarks).toContain('missing 20:')
})

test('what was asked and answered is told to every later conversation', () => {
  const { ends, isTold, reads, reviewerReads } = planning('F')
  ends('ask_question', { question: 'What is 1 / 0?', tried: 'To read.' })
  const asked = { question: 'What is 1 / 0?', spec: SPEC, criteria: '1. It is there.' }
  expect(reviewerReads()).toMatchObject({ task: 'architect/question', variables: asked })
  isTold('APPROVED', 'A RangeError.')
  ends('submit_plan', { plan: 'Write it.' })
  isTold('APPROVED', '')
  expect(reads()).toMatchObject({
    task: 'coder/coding',
    variables: { answer: 'What is 1 / 0?\n> A RangeError.' },
  })
})

test('who codes anew is told that files are there, and who codes first is not', () => {
  const { ends, givesUp, isTold, reads, reviewerReads } = planning('F')
  ends('submit_plan', { plan: 'Write it.' })
  isTold('NEEDS_CHANGES', '- name the test')
  ends('submit_plan', { plan: 'Write it, and test/b.' })
  isTold('APPROVED', '')
  expect(reads().variables).not.toHaveProperty('progress')
  givesUp('context')
  const history = 'The last conversation took 1 of 80 turns. The plan was sent back once.'
  expect(reviewerReads()).toMatchObject({
    task: 'architect/budget-review',
    variables: { used: 'its budget is spent (context)', history },
  })
  isTold('APPROVED', 'Go on.', { budget: 'continue' })
  expect(reads()).toMatchObject({
    task: 'coder/coding',
    variables: { guidance: 'Go on.', progress: expect.stringContaining('in the workspace') },
  })
})

test('who plans anew has its plan, and what was required of it', () => {
  const { ends, givesUp, isTold, reads } = planning('F')
  ends('submit_plan', { plan: 'Write it.' })
  isTold('NEEDS_CHANGES', '- name the test')
  givesUp('context')
  isTold('APPROVED', 'Go on.', { budget: 'continue' })
  const known = { plan: 'Write it.', remarks: 'Round 1:\n- name the test', guidance: 'Go on.' }
  expect(reads()).toMatchObject({ task: 'coder/planning', variables: known })
})

test('tests that fail again are shown with what they said before', () => {
  const { ends, finishes, isTold, reads } = planning('F')
  ends('submit_plan', { plan: 'Write it.' })
  isTold('APPROVED', '')
  for (const message of ['one is red', 'two is red']) {
    ends('done', { summary: 'Written.' })
    finishes('checkpoint', COMMIT)
    finishes('run_tests', { ...RED, message })
    expect(reads().variables.failures).toBe(message)
  }
  expect(reads()).toMatchObject({
    task: 'coder/fixing-tests',
    variables: { earlier: 'one is red' },
  })
})
