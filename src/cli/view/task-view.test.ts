import { expect, test } from 'vitest'
import type { AgentId, RunId } from '../../agents/values.ts'
import { unborn } from '../../runtime/fold.ts'
import { taskMarkdown } from './task-report.ts'
import { taskExitCode } from './task-status.ts'
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

test.each([
  ['approved', {}, 0],
  ['discussion_complete', {}, 3],
  ['await_operator_confirm', {}, 3],
  ['proposal_changes_requested', {}, 3],
  ['canceled', {}, 130],
  ['max_iterations_reached', { isSpent: true }, 4],
  ['max_iterations_reached', { isSpent: false }, 1],
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
