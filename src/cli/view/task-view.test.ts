import { expect, test } from 'vitest'
import type { AgentId, RunId } from '../../agents/values.ts'
import { unborn } from '../../runtime/fold.ts'
import { jsonText } from '../json-text.ts'
import { taskMarkdown } from './task-report.ts'
import { taskExitCode, taskStatus } from './task-status.ts'
import { viewTask } from './task-view.ts'

const settings = { target: 'main' }

/** A task as it is stored, with this in its data. */
const taskWith = (data: object) => ({
  ...unborn({
    key: 1,
    id: 't/coordinator' as AgentId,
    run: 't' as RunId,
    runKey: 1,
    role: 'coordinator@2',
    machine: 'coordinator@2',
  }),
  state: 'finalize',
  data: { settings, task: 'Do it.', ...data },
})

test('one that was begun and is not taken yet has a report too', () => {
  const task = { ...taskWith({}), state: null, data: {} }
  expect(viewTask(task, 'running', [])).toMatchObject({ state: 'null', target: '' })
  expect(taskMarkdown(viewTask(task, 'running', []), 'work.git')).toContain('**running**')
})

test.each([
  ['approved', {}, 0],
  ['discussion_complete', {}, 3],
  ['await_operator_confirm', {}, 3],
  ['proposal_changes_requested', {}, 3],
  ['canceled', {}, 130],
  ['approved', { delivery: { number: 1, url: null } }, 0],
  ['approved', { delivery: { error: 'no route', cause: 'forge_lost' } }, 1],
  ['approved', { delivery: { error: '401', cause: 'forge_refused' } }, 5],
  ['max_iterations_reached', { isSpent: true }, 4],
  ['max_iterations_reached', { isSpent: false }, 1],
  ['max_iterations_reached', { cause: 'provider_auth_error' }, 5],
  ['max_iterations_reached', { cause: 'forge_refused' }, 5],
  ['test_failed', { isSpent: true }, 1],
  ['review_schema_invalid', {}, 1],
  ['tester_schema_invalid', {}, 1],
  ['provider_network_error', {}, 5],
  ['provider_timeout', {}, 5],
  ['provider_auth_error', {}, 5],
])('%s %j exits with %i, and the report says what it means', (outcome, more, code) => {
  const task = taskWith({ outcome, ...more })
  expect(taskExitCode(task)).toBe(code)
  const text = taskMarkdown(viewTask(task, 'done', []), 'work.git')
  expect(text).toMatch(new RegExp(`\\*\\*${outcome}\\*\\*: [A-Z].*\\.`))
})

test('a task that is halted has failed, and one that is under way was left', () => {
  expect(taskExitCode({ ...taskWith({}), state: 'build', halted: true })).toBe(1)
  expect(taskExitCode({ ...taskWith({}), state: 'build' })).toBe(130)
  expect(taskExitCode(taskWith({ outcome: 'approved', awaits: 'e1' }))).toBe(130)
})

test.each([
  [{ isSpent: true }, 'The iteration budget is spent.'],
  [{ why: 'the coder is blocked: no compiler' }, 'The task could not go on.'],
  [{ cause: 'provider_auth_error' }, 'The model provider refused the credentials.'],
  [{ cause: 'forge_refused' }, 'The forge refused the credentials.'],
  [{ cause: 'forge_lost' }, 'The forge could not be reached.'],
])('given up with %j: %s', (data, meaning) => {
  const task = taskWith({ outcome: 'max_iterations_reached', ...data })
  expect(viewTask(task, 'failed', []).meaning).toBe(meaning)
})

test('work that is approved and not handed in is no success', () => {
  const delivery = { error: '401: bad credentials', cause: 'forge_refused' }
  const task = taskWith({ outcome: 'approved', delivery })
  expect(taskStatus({ status: 'running' } as never, task)).toBe('failed')
  const text = taskMarkdown(viewTask(task, 'failed', []), 'work.git')
  expect(text).toContain('**It could not be handed in**:\n\n```\n401: bad credentials\n```')
  expect(taskStatus({ status: 'running' } as never, taskWith({ outcome: 'approved' }))).toBe('done')
})

test('a transition that tried something again says how often and why', () => {
  const row = { atMs: 0, from: 'iterate', move: 'start_coder', to: 'build' }
  const retry = { count: 2, reason: 'tests | failed' }
  const view = viewTask(taskWith({}), 'running', [
    { ...row, body: { retry } },
    { ...row, body: {} },
  ] as never)
  expect(JSON.parse(jsonText(view)).transitions).toEqual([
    {
      at: '1970-01-01T00:00:00.000Z',
      from: 'iterate',
      event: 'start_coder',
      to: 'build',
      retry_count: 2,
      retry_reason: 'tests | failed',
    },
    { at: '1970-01-01T00:00:00.000Z', from: 'iterate', event: 'start_coder', to: 'build' },
  ])
  expect(taskMarkdown(view, 'work.git')).toContain(
    '| iterate | start_coder | build | 2: tests \\| failed |',
  )
})

test('a round has its review point by point, and what is to be put right', () => {
  const round = {
    ...{ number: 1, kind: 'implementation', startedMs: 0, endedMs: 1 },
    cameTo: 'review_changes_requested',
    review: {
      decision: 'changes_requested',
      must_fix: ['It squares.'],
      nice_to_have: ['A name.'],
      tests: ['Zero.'],
      security: ['None.'],
    },
    mustFix: 'The reviewer asks for changes:\n- It squares.',
  }
  const data = { outcome: 'max_iterations_reached', rounds: 1, 'round:1': round }
  const text = taskMarkdown(viewTask(taskWith(data), 'failed', []), 'work.git')
  expect(text).toContain(`### Review: changes_requested

- must fix: It squares.
- nice to have: A name.
- to test: Zero.
- security: None.

### To be put right

\`\`\`
The reviewer asks for changes:
- It squares.
\`\`\``)
})

test('nothing that others wrote is a heading, a closed fence or a command to the terminal', () => {
  const evil = '# Approved\n```\n````\n\u001b[2J| x |'
  const round = {
    number: 1,
    kind: 'implementation',
    startedMs: 0,
    endedMs: 1,
    cameTo: 'tests_failed',
  }
  const data = {
    task: evil,
    outcome: 'test_failed',
    why: evil,
    rounds: 1,
    'round:1': { ...round, coderSays: evil, tests: evil, ownTests: evil },
  }
  const text = taskMarkdown(viewTask(taskWith(data), 'failed', []), 'work.git')
  expect(text).not.toContain('\u001b')
  const headings = text.replaceAll(/^(`{3,})\n[\s\S]*?\n\1$/gm, '').match(/^#.*$/gm)
  expect(headings).toEqual([
    '# t',
    '## Round 1: implementation, tests_failed, 0 s',
    '### The coder',
    "### The repository's own tests",
    '### Tests',
    '## Transitions',
  ])
})
