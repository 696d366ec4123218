import { expect, test } from 'vitest'
import { type ProposedStory, problemsOf } from './decomposition.ts'

const story = (id: string, given: Partial<ProposedStory> = {}): ProposedStory => ({
  id,
  title: id,
  description: id,
  criteria: ['1', '2'],
  dependsOn: [],
  expectedFiles: [],
  kind: 'app',
  estimate: 'small',
  ...given,
})
const CRITERIA = [
  { id: '1', text: 'It adds.' },
  { id: '2', text: 'It subtracts.' },
]

test('a sound decomposition has no problems', () => {
  expect(problemsOf(CRITERIA, [story('a'), story('b', { dependsOn: ['a'] })])).toEqual([])
})

test.each<[string, ProposedStory[], RegExp]>([
  ['no story', [], /no story/],
  ['a name twice', [story('a'), story('a')], /Two stories are called a/],
  [
    'a criterion that nobody covers',
    [story('a', { criteria: ['1'] })],
    /criterion 2: It subtracts/,
  ],
  ['an unknown criterion', [story('a', { criteria: ['1', '2', '9'] })], /covers 9/],
  ['an unknown dependency', [story('a', { dependsOn: ['z'] })], /depends on z/],
  ['a story that needs itself', [story('a', { dependsOn: ['a'] })], /a → a/],
  [
    'a cycle',
    [
      story('a', { dependsOn: ['c'] }),
      story('b', { dependsOn: ['a'] }),
      story('c', { dependsOn: ['b'] }),
    ],
    /a → c → b → a/,
  ],
])('%s is named', (_, stories, problem) => {
  expect(problemsOf(CRITERIA, stories).join('\n')).toMatch(problem)
})

test('a spec of one criterion stays one story', () => {
  const [criterion] = CRITERIA
  const stories = [story('a', { criteria: ['1'] }), story('b', { criteria: ['1'] })]
  expect(problemsOf(criterion ? [criterion] : [], stories)).toHaveLength(1)
  expect(problemsOf(criterion ? [criterion] : [], stories.slice(0, 1))).toEqual([])
})

test('a chain of 20,000 stories is checked', () => {
  const stories = Array.from({ length: 20_000 }, (_, i) =>
    story(`s${i}`, { dependsOn: i === 0 ? [] : [`s${i - 1}`] }),
  )
  expect(problemsOf(CRITERIA, stories)).toEqual([])
  const closed = [story('s0', { dependsOn: ['s19999'] }), ...stories.slice(1)]
  expect(problemsOf(CRITERIA, closed).join('')).toContain('depend on each other')
})
