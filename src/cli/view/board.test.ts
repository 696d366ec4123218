import { expect, test } from 'vitest'
import { NO_AMOUNTS } from '../../ledger/amounts.ts'
import { drawBoard } from './board.ts'
import type { RunView } from './run-view.ts'

const plain = (text: string) => text
const STYLE = { bold: plain, dim: plain, good: plain, warn: plain, bad: plain } as never

const SETTINGS = {
  style: STYLE,
  columns: 100,
  rows: 24,
  nowMs: 3_661_000,
  news: [],
  hint: '',
  isAskedElsewhere: false,
}

const VIEW = {
  run: 'tally-more-than-characters-a57e',
  status: 'waiting',
  task: null,
  startedMs: 0,
  endedMs: null,
  spent: { ...NO_AMOUNTS, microdollars: 1_230_000 },
  stories: [],
  agents: [],
  questions: [],
  budget: { isSpent: false, limits: null, startedMs: 0 },
} as unknown as RunView

test('the time of a run that is over stands still', () => {
  const settings = { ...SETTINGS, columns: 100 }
  const [head = ''] = drawBoard({ ...VIEW, status: 'done', endedMs: 65_000 }, settings)
  expect(head).toContain('1 min 5 s')
})

test.each([
  [{ outcome: null }, 'proposal, round 1, in review'],
  [{ outcome: 'canceled' }, 'proposal, round 1, canceled'],
  [{ outcome: 'approved', deliveryError: '401' }, 'proposal, round 1, approved, not handed in'],
])('a task %j has its mode, round and end in the head line, and no bar', (more, words) => {
  const settings = { ...SETTINGS, columns: 160, nowMs: 0 }
  const task = { mode: 'proposal', round: 1, state: 'review', deliveryError: null, ...more }
  const [head = ''] = drawBoard({ ...VIEW, task } as RunView, settings)
  expect(head).toContain(`waiting  ${words}  $1.23`)
  expect(head).not.toMatch(/[░█]|spec/)
})

test.each([200, 100, 80])('at %d columns the head line has the spend and the time', (columns) => {
  const settings = { ...SETTINGS, columns }
  const [head = ''] = drawBoard(VIEW, settings)
  expect(head.length).toBeLessThanOrEqual(columns)
  expect(head).toContain('waiting')
  expect(head).toContain('$1.23')
  expect(head).toContain('1 h 1 min')
})

test('an answer names its question where another one is open too', () => {
  const questions = [{ id: 'q-1', question: 'Which?', choices: ['this', 'that'] }]
  const view = { ...VIEW, questions } as unknown as RunView
  const board = (isAskedElsewhere: boolean) =>
    drawBoard(view, { ...SETTINGS, isAskedElsewhere }).join('\n')
  expect(board(false)).toContain('slipway answer "this"')
  expect(board(true)).toContain('slipway answer q-1 "this"')
})

test.each([
  ['READY', 'ready, attempt 3'],
  ['ASSIGNED', 'assigned, attempt 3'],
  ['FAILED', 'failed, attempt 2'],
  ['WAIVED', 'waived, attempt 2'],
  ['CUT', 'cut, attempt 2'],
])('of a story that is %s the board says: %s', (state, detail) => {
  const story = { id: 'a', title: 'A', state, coder: null, attempts: 2, dependsOn: [] }
  const stories = [{ ...story, failedDependencies: [] }]
  const lines = drawBoard({ ...VIEW, stories } as unknown as RunView, SETTINGS)
  expect(lines.find((line) => line.includes(' a  A'))).toMatch(new RegExp(`${detail}$`))
})

test('why a run failed, and why an agent is suspended, is on the board', () => {
  const failure = { reason: 'it contradicts itself', isOutage: false }
  const agents = [
    {
      id: 'pm',
      state: 'SUSPEND',
      story: null,
      turn: null,
      generation: 1,
      outage: '529 overloaded',
    },
  ]
  const view = { ...VIEW, status: 'failed', failure, agents } as unknown as RunView
  const board = drawBoard(view, SETTINGS).join('\n')
  expect(board).toContain('! No story was made of the spec: it contradicts itself.')
  expect(board).toMatch(/pm +SUSPEND +529 overloaded/)
})
