import { expect, test } from 'vitest'
import { gatherEvidence } from './evidence.ts'
import type { RunSource } from './run-source.ts'

const CRITERIA = [
  { id: '1', text: 'It greets.' },
  { id: '2', text: 'It leaves.' },
]

const storyOf = (id: string, criterion: number, commit: string | null) => ({
  id: `r/story/${id}`,
  key: criterion + 2,
  role: 'story',
  state: 'MERGED',
  data: { story: { id, title: id, criteria: [CRITERIA[criterion]] }, commit },
})

const mergeOf = (commit: string, verdict: string) => ({
  seq: 1,
  agentId: 'r/merge-queue',
  eventType: 'effect_finished',
  body: {
    payload: {
      result: { value: { kind: 'merged', commit, gate: { verdict, message: '', commands: [] } } },
    },
  },
})

function sourceOf(stories: readonly object[], rows: readonly object[]): RunSource {
  const pm = {
    id: 'r/pm',
    key: 1,
    role: 'pm',
    state: 'DONE',
    data: { spec: { title: 'T', criteria: CRITERIA } },
  }
  return {
    agents: async () => [pm, ...stories],
    rows: async (_: string, afterSeq: number) => (afterSeq === 0 ? rows : []),
  } as unknown as RunSource
}

const verdictsOf = async (stories: readonly object[], rows: readonly object[]) => {
  const { criteria, isComplete } = await gatherEvidence(sourceOf(stories, rows), 'r')
  return { verdicts: criteria.map(({ verdict }) => verdict), isComplete }
}

test('a commit whose gate passed shows a criterion', async () => {
  const stories = [storyOf('a', 0, 'c1'), storyOf('b', 1, 'c1')]
  const evidence = await verdictsOf(stories, [mergeOf('c1', 'passed')])
  expect(evidence).toEqual({ verdicts: ['shown', 'shown'], isComplete: true })
})

test('what needed no change is shown by the tests of the newest tree', async () => {
  const stories = [storyOf('a', 0, 'c1'), storyOf('b', 1, null)]
  const evidence = await verdictsOf(stories, [mergeOf('c1', 'passed')])
  expect(evidence).toEqual({ verdicts: ['shown', 'shown'], isComplete: true })
})

test.each([
  ['no test was ever run', []],
  ['the tests failed', [mergeOf('c1', 'failed')]],
])('nothing is shown where %s, whatever a model says', async (_, rows) => {
  const stories = [storyOf('a', 0, null), storyOf('b', 1, null)]
  const evidence = await verdictsOf(stories, rows)
  expect(evidence).toEqual({ verdicts: ['not_shown', 'not_shown'], isComplete: false })
})

test.each(['BLOCKED', 'ASSIGNED', 'FAILED', 'WAIVED'])(
  'a story that is %s has no tests, and not those of another',
  async (state) => {
    const stories = [storyOf('a', 0, 'c1'), { ...storyOf('b', 1, null), state }]
    const { criteria } = await gatherEvidence(sourceOf(stories, [mergeOf('c1', 'passed')]), 'r')
    expect(criteria[1]?.stories).toMatchObject([{ id: 'b', state, commit: null, tests: null }])
  },
)

test.each([
  ['more', 3, 5, 2],
  ['as many', 3, 3, 0],
  ['fewer', 3, 2, -1],
])('of a story it is known whether there are %s tests after it', async (_, before, after, more) => {
  const withCounts = (commit: string, onto: string, passed: number) => {
    const counts = { passed, failed: 0, skipped: 0 }
    const gate = { verdict: 'passed', message: '', commands: [], counts }
    return {
      ...mergeOf(commit, 'passed'),
      body: { payload: { result: { value: { kind: 'merged', commit, onto, gate } } } },
    }
  }
  const rows = [withCounts('c1', 'c0', before), withCounts('c2', 'c1', after)]
  const stories = [storyOf('a', 0, 'c1'), storyOf('b', 1, 'c2'), storyOf('c', 1, null)]
  const { criteria } = await gatherEvidence(sourceOf(stories, rows), 'r')
  const told = criteria.flatMap(({ stories }) => stories.map(({ tests }) => tests?.more))
  // Nothing was counted before the first; what needed no change has no commit before it.
  expect(told).toEqual([null, more, null])
})
