import { expect, test } from 'vitest'
import type { Evidence } from './evidence.ts'
import { printEvidence, testsInWords } from './evidence-text.ts'

const plain = (text: string) => text
const STYLE = { bold: plain, dim: plain, good: plain, warn: plain }
const TEXT = '`countSentences(text)` gives the number of sentences; "e.g." ends none.'
const TESTS = { verdict: 'passed', counts: { passed: 11, failed: 0 }, more: null }
const EVIDENCE = {
  title: 'Tally',
  criteria: [
    {
      id: '1',
      text: TEXT,
      verdict: 'shown',
      stories: [
        { id: 'sentences', state: 'MERGED', commit: 'c4c8d63e5c0011', tests: TESTS },
        { id: 'average', state: 'MERGED', commit: null, tests: TESTS },
      ],
    },
    { id: '2', text: 'It tells lines.', verdict: 'not_shown', stories: [] },
  ],
} as unknown as Evidence

const print = (width: number) => printEvidence(EVIDENCE, STYLE, width)

test('where there is room, the evidence is a table', () => {
  expect(print(120)).toContain('CRITERION')
  expect(print(120)).toMatch(/sentences +c4c8d63e5c +passed \(11 passed, 0 failed\)$/m)
  expect(print(120)).toMatch(/average +nothing to change +passed \(11 passed, 0 failed\)$/m)
})

test.each([80, 70, 60, 50, 40])('at %d columns it fits, and is all there', (width) => {
  for (const line of print(width).split('\n')) expect(line.length).toBeLessThanOrEqual(width)
  const words = print(width).replaceAll(/\s+/g, ' ')
  for (const word of TEXT.split(' ')) expect(words).toContain(word)
  for (const word of ['NOT SHOWN', 'no story', 'c4c8d63e5c']) expect(words).toContain(word)
})

test('where columns would be too narrow, what shows a criterion is below it', () => {
  expect(print(50)).toBe(
    [
      'Evidence: Tally',
      '1  `countSentences(text)` gives the number of',
      '   sentences; "e.g." ends none.',
      '   shown: sentences, c4c8d63e5c, passed (11',
      '   passed, 0 failed)',
      '   shown: average, nothing to change, passed (11',
      '   passed, 0 failed)',
      '2  It tells lines.',
      '   NOT SHOWN: no story',
    ].join('\n'),
  )
})

test.each([
  [2, 'passed (11 passed, 0 failed, 2 tests more than before)'],
  [1, 'passed (11 passed, 0 failed, 1 test more than before)'],
  [0, 'passed (11 passed, 0 failed, no test more than before)'],
  [-1, 'passed (11 passed, 0 failed, 1 test fewer than before)'],
])('with %d tests more it says so', (more, words) => {
  const counts = { passed: 11, failed: 0, skipped: 0 }
  expect(testsInWords({ verdict: 'passed', message: '', commands: [], counts, more })).toBe(words)
})
