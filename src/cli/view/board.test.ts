import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { NO_AMOUNTS } from '../../ledger/amounts.ts'
import { widthOf } from '../terminal-text.ts'
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
  const questions = [
    { id: 'q-1', question: 'Which?', choices: ['this', 'that'], does: {}, words: '' },
  ]
  const view = { ...VIEW, questions } as unknown as RunView
  const board = (isAskedElsewhere: boolean) =>
    drawBoard(view, { ...SETTINGS, isAskedElsewhere }).join('\n')
  expect(board(false)).toContain('slipway answer "this"')
  expect(board(true)).toContain('slipway answer q-1 "this"')
})

test('a question is on the board as a whole, with what comes of each choice', () => {
  const question = `A coder asks: ${'Comma or no comma? '.repeat(5)}`
  const does = { abandon: 'this attempt is given up' }
  const words = 'the answer that the coder gets'
  const questions = [{ id: 'q-1', question, choices: ['abandon'], does, words }]
  const lines = drawBoard({ ...VIEW, questions } as unknown as RunView, {
    ...SETTINGS,
    columns: 60,
  })
  const first = lines.findIndex((line) => line.startsWith('?'))
  expect(lines.slice(first, first + 5)).toEqual([
    '? A coder asks: Comma or no comma? Comma or no comma? Comma',
    '  or no comma? Comma or no comma? Comma or no comma?',
    '  words of your own: the answer that the coder gets',
    '  abandon: this attempt is given up',
    '  slipway answer "…"',
  ])
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
      waitsFor: null,
      generation: 1,
      outage: '529 overloaded',
      outageUntilMs: Date.UTC(2026, 10, 18, 3, 22),
    },
  ]
  const view = { ...VIEW, status: 'failed', failure, agents } as unknown as RunView
  const board = drawBoard(view, SETTINGS).join('\n')
  expect(board).toContain('! No story was made of the spec: it contradicts itself.')
  expect(board).toMatch(/pm +SUSPEND +until 2026-11-18 03:22 UTC, 529 overloaded/)
})

const HINT = 'a answers what is asked, q leaves the demo'
const QUESTION = {
  id: 'demo/architect-1:12.0',
  cause: null,
  question: 'To how many decimal places is the average of words in a sentence to be rounded?',
  choices: ['one decimal place', 'two decimal places', 'no rounding', 'abandon'],
  does: {},
  words: '',
}
const storyOf = (id: number) => ({
  id: `story-${id}`,
  title: `The story of number ${id}`,
  state: 'READY',
  coder: null,
  attempts: 0,
  dependsOn: [],
  failedDependencies: [],
})
const agentOf = (id: number) => ({
  id: `coder-${id}`,
  state: 'CODING',
  turn: 3,
  waitsFor: null,
  generation: 1,
})
const NEWS = [1, 2, 3, 4, 5, 6, 7].map((second) => `12:00:0${second}  coder-1  CODING → TESTING`)
/** A board with everything on it. */
const BUSY = {
  ...VIEW,
  spent: { ...NO_AMOUNTS, microdollars: 170_000, inputTokens: 113_300 },
  stories: [1, 2, 3, 4, 5, 6, 7].map(storyOf),
  agents: [...[1, 2, 3, 4, 5].map(agentOf), { id: 'pm', state: 'DONE' }],
  questions: [QUESTION],
} as unknown as RunView

const draw = (view: RunView, size: { columns: number; rows: number }) => {
  const lines = drawBoard(view, { ...SETTINGS, ...size, nowMs: 755_000, news: NEWS, hint: HINT })
  expect(lines.length).toBeLessThan(size.rows)
  for (const line of lines) expect(widthOf(line)).toBeLessThan(size.columns)
  // Words that are on two lines are words still.
  return { lines, words: lines.join('\n').replaceAll(/\s+/g, ' ') }
}

test.each([
  [100, 45],
  [80, 24],
  [80, 15],
  [60, 24],
  [50, 24],
  [50, 15],
])('at %d x %d what is asked stays, and how to answer and to leave', (columns, rows) => {
  const { lines, words } = draw(BUSY, { columns, rows })
  expect(words).toContain(`? ${QUESTION.question}`)
  expect(words).toContain(QUESTION.choices.join(' | '))
  expect(words).toContain('slipway answer "one decimal place"')
  expect(lines.at(-1)).toBe(HINT)
  expect(words).toContain('waiting')
  expect(words).toContain('$0.17 (113.3k tokens)')
  expect(words).toContain('12 min 35 s')
  expect(lines[0]).toMatch(/^tally-/)
})

const PLAN = {
  ...QUESTION,
  question: `Is this plan right for “Say hello”? ${'Write hello.sh and test it. '.repeat(12)}`,
  choices: ['again', 'approve', 'needs_changes', 'abandon'],
  does: {
    again: 'the architect decides it, once more is allowed',
    approve: 'the coder builds it by this plan',
    needs_changes: 'it plans again; say after a colon what is wrong',
    abandon: 'this attempt at the story is given up',
  },
}

test.each([
  [60, 12],
  [50, 14],
  [40, 10],
  [40, 8],
  [40, 6],
  [80, 6],
  [30, 12],
])('at %d x %d the beginning of what is asked is there, and its choices', (columns, rows) => {
  for (const asked of [QUESTION, PLAN]) {
    const questions = [asked]
    const { lines, words } = draw({ ...BUSY, questions } as unknown as RunView, { columns, rows })
    const first = lines.findIndex((line) => line.startsWith('? '))
    const choices = lines.findIndex((line) => line.startsWith(`  ${asked.choices[0]}`))
    expect(lines[0]).toMatch(/^tally-/)
    expect(first).toBeGreaterThan(0)
    expect(choices).toBeGreaterThan(first)
    const text = lines.slice(first, choices).join(' ').replaceAll(/\s+/g, ' ')
    const whole = `? ${asked.question}`.trim()
    if (text.endsWith('…')) expect(whole).toContain(text.replace(/ ?…$/, ''))
    else expect(text).toBe(whole)
    for (const choice of asked.choices) expect(words).toContain(choice)
    expect(lines.at(-1)).toMatch(/^(a answers|.*demo$)/)
  }
})

test.each([
  [6, [/waiting …$/, /^\? To .*…$/, /^ {2}one/, /abandon$/, /^a answers .*…$/]],
  [5, [/waiting …$/, /^\? To .*…$/, /^ {2}one/, /abandon$/]],
  [4, [/waiting …$/, /^\? To .*…$/, /^ {2}one .*…$/]],
  [3, [/waiting …$/, /^\? To .*…$/]],
  [2, [/waiting …$/]],
])('at 40 x %d the head goes last, before it the question, and then its choices', (rows, all) => {
  const { lines } = draw(BUSY, { columns: 40, rows })
  expect(lines).toEqual(all.map((pattern) => expect.stringMatching(pattern)))
})

test.each([2, 3, 4, 5, 9])('at 30 x %d what nobody is asked about fits as well', (rows) => {
  const failed = { reason: 'it contradicts itself '.repeat(9), isOutage: false }
  for (const view of [
    { ...BUSY, questions: [] },
    { ...BUSY, questions: [], status: 'failed', failure: failed },
    { ...BUSY, questions: [1, 2, 3].map((id) => ({ ...PLAN, id: `q-${id}` })), failure: failed },
  ]) {
    const { lines } = draw(view as unknown as RunView, { columns: 30, rows })
    expect(lines[0]).toMatch(/^tally-/)
  }
})

test.each([10, 11, 12, 13, 14, 15, 16])('at 50 x %d no count is without a story', (rows) => {
  const { lines } = draw(BUSY, { columns: 50, rows })
  const count = lines.findIndex((line) => /^ {2}and \d more$/.test(line))
  if (count !== -1) expect(lines[count - 1]).toMatch(/story-/)
})

test('wide signs fit too, and are cut where they do not', () => {
  const title = '文字数だけでなく単語と行も数えるようにする長い題名の話'
  const stories = [1, 2, 3].map((id) => ({ ...storyOf(id), id: `話-${id}`, title }))
  const questions = [{ ...QUESTION, question: title.repeat(6) }]
  const view = { ...BUSY, run: title, stories, questions } as unknown as RunView
  for (const columns of [100, 80, 50, 40]) {
    const { lines } = draw(view, { columns, rows: 24 })
    expect(lines.filter((line) => line.startsWith('○ 話-'))).toHaveLength(3)
    const first = lines.findIndex((line) => line.startsWith(`? ${title.slice(0, 8)}`))
    expect(lines[first + 1]).toMatch(/^ {2}\p{sc=Han}|^ {2}\p{sc=Hiragana}/u)
  }
})

test('where room is short, log lines go first and then agents, and what went is counted', () => {
  const of = (rows: number) => draw(BUSY, { columns: 80, rows })
  const logged = (rows: number) => of(rows).lines.filter((line) => line.includes('→')).length
  expect([logged(45), logged(26), logged(24)]).toEqual([6, 2, 0])
  expect(of(24).words).toMatch(/story-7 .* coder-5 CODING turn 3 1 idle/)
  expect(of(20).words).toMatch(/story-7 .* coder-1 CODING turn 3 and 4 more at work, 1 idle/)
  expect(of(16).words).toMatch(/story-3 .* and 4 more 5 at work, 1 idle/)
})

test('styles neither count as width nor are cut', () => {
  const red = (text: string) => `\x1b[31m${text}\x1b[39m`
  const style = { bold: red, dim: red, good: red, warn: red } as never
  const plainLines = drawBoard(BUSY, { ...SETTINGS, columns: 50, rows: 24, news: NEWS })
  const lines = drawBoard(BUSY, { ...SETTINGS, columns: 50, rows: 24, news: NEWS, style })
  expect(lines.map(stripVTControlCharacters)).toEqual(plainLines)
  for (const line of lines)
    expect(line.split('\x1b[31m').length).toBe(line.split('\x1b[39m').length)
})

test('what is cut is marked', () => {
  const reason = 'it never ends '.repeat(50)
  const long = { ...BUSY, questions: [{ ...QUESTION, question: reason }] } as unknown as RunView
  const { lines } = draw(long, { columns: 50, rows: 24 })
  expect(lines).toContain('  it never ends it never ends it never ends it …')
  const coder = { coder: 'coder-1', activity: 'CODE_REVIEW' }
  const stories = [{ ...storyOf(1), ...coder, title: 'A title of some length' }]
  const { lines: narrow } = draw({ ...BUSY, stories } as unknown as RunView, {
    columns: 50,
    rows: 24,
  })
  expect(narrow).toContain('○ story-1  A title of some length  coder-1 CODE_…')
})

test('of many questions those that fit are shown whole, and the others counted', () => {
  const questions = [1, 2, 3, 4, 5, 6].map((id) => ({ ...QUESTION, id: `q-${id}` }))
  const { words } = draw({ ...BUSY, questions } as unknown as RunView, { columns: 80, rows: 24 })
  expect(words).toContain('slipway answer q-1 "one decimal place"')
  expect(words).toContain(
    'slipway answer q-3 "one decimal place" and 3 more questions: slipway answer',
  )
})

test.each(['done', 'failed', 'stopped'] as const)('a board that is %s names no keys', (status) => {
  const view = { ...BUSY, status, questions: [], failure: null } as RunView
  expect(draw(view, { columns: 80, rows: 24 }).words).not.toContain('a answers')
})

test.each([
  [{ waitsFor: 'human' }, 'S1, waits for you'],
  [{ waitsFor: 'architect-1' }, 'S1, waits for architect-1'],
  [{ waitsFor: 'architect' }, 'S1, waits for an architect'],
  [{ waitsFor: null }, 'S1'],
])('of an agent with %j the board says: %s', (given, words) => {
  const agent = { id: 'coder-1', state: 'CODE_REVIEW', story: 'S1', turn: null, generation: 1 }
  const view = { ...VIEW, agents: [{ ...agent, ...given }] } as unknown as RunView
  const line = drawBoard(view, SETTINGS).find((one) => one.includes('coder-1'))
  expect(line?.trim()).toBe(`coder-1      CODE_REVIEW    ${words}`)
})
