import { expect, test } from 'vitest'
import { readSpec } from './spec-text.ts'

const spec = (...lines: string[]) => readSpec(['# Title', '', ...lines].join('\n'))

test.each<[string, string[], [string, string][]]>([
  [
    'numbers',
    ['## Acceptance criteria', '1. One', '2. Two'],
    [
      ['1', 'One'],
      ['2', 'Two'],
    ],
  ],
  [
    'bullets',
    ['## Criteria', '- One', '* Two', '+ Three'],
    [
      ['1', 'One'],
      ['2', 'Two'],
      ['3', 'Three'],
    ],
  ],
  [
    'boxes',
    ['## Acceptance', '- [ ] One', '- [x] Two'],
    [
      ['1', 'One'],
      ['2', 'Two'],
    ],
  ],
  [
    'ids of its own',
    ['## Criteria', '- AC-1: One', '- **AC-2**: Two'],
    [
      ['AC-1', 'One'],
      ['AC-2', 'Two'],
    ],
  ],
  [
    'ids that are not unique',
    ['## Criteria', '- A1: One', '- A1: Two'],
    [
      ['1', 'One'],
      ['2', 'Two'],
    ],
  ],
  [
    'several lines',
    ['## Criteria', '1. One', '   and more', '2. Two'],
    [
      ['1', 'One\nand more'],
      ['2', 'Two'],
    ],
  ],
  ['points below a point', ['## Criteria', '1. One', '   - a part'], [['1', 'One\n- a part']]],
  [
    'what follows another heading',
    ['## Criteria', '1. One', '## Notes', '- Not this'],
    [['1', 'One']],
  ],
])('reads %s', (_, lines, expected) => {
  expect(spec(...lines)?.criteria.map(({ id, text }) => [id, text])).toEqual(expected)
})

test.each([
  ['no heading of that name', ['## Notes', '- One']],
  ['no list under it', ['## Acceptance criteria', 'It should be good.']],
])('with %s somebody has to write them', (_, lines) => {
  expect(spec(...lines)).toBeUndefined()
})

test('the title is the first heading, and the body all of it', () => {
  expect(spec('Words.', '## Criteria', '- One')).toMatchObject({
    title: 'Title',
    body: '# Title\n\nWords.\n## Criteria\n- One',
  })
})
