import { expect, test } from 'vitest'
import type { AgentView, Decision } from '../role.ts'
import type { AgentId, Json } from '../values.ts'
import { mergeQueueRole } from './merge-queue.ts'
import type { MergeFinished } from './protocol.ts'

/** A queue that is told one message after the other. */
function live() {
  let agent: AgentView = {
    id: 'r/merge-queue' as AgentId,
    state: 'WAITING',
    origin: null,
    data: mergeQueueRole.initialData,
    generation: 1,
    seq: 0,
  }
  const tell = (type: string, payload: unknown = null): Decision => {
    const event = { id: 'e', type, payload: payload as Json, atMs: 7 }
    const decision = mergeQueueRole.handle(agent, event)
    const data = { ...agent.data, ...decision.set }
    agent = { ...agent, data, state: decision.move?.to ?? agent.state, seq: agent.seq + 1 }
    return decision
  }
  const want = (request: string) =>
    tell('merge_wanted', { from: 'r/architect-1', request, merge: { head: request } })
  const finish = (result: object) => tell('effect_finished', { effect: 'x', kind: 'merge', result })
  return {
    tell,
    want,
    finish,
    state: () => agent.state,
    set: (state: string) => (agent = { ...agent, state }),
  }
}

const outcome = (value: object) => ({ ok: true, value })
const told = ({ send = [] }: Decision) =>
  send
    .filter(({ type }) => type === 'merge_finished')
    .map(({ payload }) => (payload as unknown as MergeFinished).response)

test('one commit is merged after the other', () => {
  const queue = live()
  expect(queue.want('1').effects).toEqual([{ kind: 'merge', input: { head: '1', atMs: 7 } }])
  expect(queue.want('2').effects).toBeUndefined()
  const first = queue.finish(outcome({ kind: 'merged', commit: 'c' }))
  expect(told(first)).toEqual([{ request: '1', status: 'APPROVED', feedback: '', merged: 'c' }])
  expect(queue.state()).toBe('WAITING')
  expect(queue.tell('merge_next').effects).toEqual([
    { kind: 'merge', input: { head: '2', atMs: 7 } },
  ])
})

test.each<[string, object, string, boolean]>([
  [
    'a conflict',
    { kind: 'conflicted', onto: 'o', content: 'c', conflicts: [] },
    'NEEDS_CHANGES',
    true,
  ],
  ['a red gate', { kind: 'gate_failed', onto: 'o', content: 'c', gate: {} }, 'NEEDS_CHANGES', true],
  ['a refusal', { kind: 'refused', reason: 'closed' }, 'REJECTED', false],
  ['nothing to merge', { kind: 'nothing_to_merge', onto: 'o' }, 'REJECTED', false],
])('%s is told to whoever asked', (_, value, status, hasConflict) => {
  const queue = live()
  queue.want('1')
  const [response] = told(queue.finish(outcome(value)))
  expect(response).toMatchObject({ request: '1', status })
  expect(response?.conflict !== undefined).toBe(hasConflict)
})

test('a merge whose tree was tested only afterwards is told with what the tests said', () => {
  const queue = live()
  queue.want('1')
  const gate = { verdict: 'failed', message: 'npm test: tests failed', commands: [] }
  const merged = { kind: 'merged', commit: 'c', asTested: false, gate }
  const [response] = told(queue.finish(outcome(merged)))
  expect(response).toMatchObject({ status: 'APPROVED', merged: 'c' })
  expect(response?.feedback).toContain('The target moved while this was merged')
  expect(response?.feedback).toContain('tests failed')
})

test('a merge says which files of a conflict are as git had left them', () => {
  const queue = live()
  queue.want('1')
  const merged = { kind: 'merged', commit: 'c', asTested: true, asLeft: ['logo.png', 'b.bin'] }
  const [response] = told(queue.finish(outcome(merged)))
  expect(response).toMatchObject({ status: 'APPROVED', merged: 'c' })
  expect(response?.feedback).toMatch(/as git had left them.*: logo\.png, b\.bin$/)
})

test('a story that is on the target already is merged, and what came since is said to be not', () => {
  const queue = live()
  queue.want('1')
  const [response] = told(queue.finish(outcome({ kind: 'already_merged', commit: 'c', head: 'h' })))
  expect(response).toMatchObject({ status: 'APPROVED', merged: 'c' })
  expect(response?.feedback).toContain('from the head h')
})

test('a conflict that was not settled is told with what to do about it', () => {
  const queue = live()
  queue.want('1')
  const conflict = {
    path: 'logo.png',
    kind: 'unsettled',
    message: 'It was handed in so.',
    hunks: [],
  }
  const [response] = told(queue.finish(outcome({ kind: 'conflicted', conflicts: [conflict] })))
  expect(response?.conflict?.text).toContain('logo.png: unsettled. It was handed in so.')
})

test('a conflict names every file, and counts what it does not show', () => {
  const hunk = { line: 1, target: 'x'.repeat(1_000), base: '', story: 'y'.repeat(1_000) }
  const conflicts = Array.from({ length: 100 }, (_, i) => ({
    path: `file-${i}.txt`,
    kind: 'contents',
    message: 'conflict',
    hunks: [hunk],
    hunksLeftOut: 2,
  }))
  const further = { paths: ['file-100.txt', 'file-101.txt'], count: 5, hunks: 30 }
  const queue = live()
  queue.want('1')
  const [response] = told(queue.finish(outcome({ kind: 'conflicted', conflicts, further })))
  const text = response?.conflict?.text ?? ''
  for (let i = 0; i < 102; i += 1) expect(text).toContain(`file-${i}.txt`)
  expect(text).toContain('and 3 more')
  const shown = text.split('<<< on the target').length - 1
  expect(shown).toBeGreaterThan(3)
  expect(text).toContain(`${330 - shown} more places`)
  expect(text.length).toBeLessThan(30_000)
})

test('a merge that fails does not hold up the next one', () => {
  const queue = live()
  queue.want('1')
  queue.want('2')
  const error = { code: 'storage', message: 'broken' }
  const feedback =
    'it could not be carried out (storage: broken). This is no conflict, and no test failed.'
  expect(told(queue.finish({ ok: false, error }))).toMatchObject([{ status: 'REJECTED', feedback }])
  expect(queue.state()).toBe('ERROR')
  // What comes meanwhile waits in line.
  expect(queue.want('3').move).toBeUndefined()
  queue.tell('merge_next')
  expect(queue.state()).toBe('WAITING')
  expect(queue.tell('merge_next').effects).toMatchObject([{ input: { head: '2' } }])
})

test('a merge that was under way when the forge stayed away is begun again', () => {
  const queue = live()
  queue.want('1')
  queue.set('ERROR')
  expect(queue.tell('suspension_timed_out').move?.to).toBe('WAITING')
  expect(queue.tell('merge_next').effects).toMatchObject([{ input: { head: '1' } }])
})
