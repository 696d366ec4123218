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
    'what is below headings of their own',
    ['## Acceptance criteria', '1. One', '### Errors', '2. Two', '## Notes', '3. Not this'],
    [
      ['1', 'One'],
      ['2', 'Two'],
    ],
  ],
  [
    'a second section',
    ['## Acceptance criteria', '- One', '## Notes', '- Not this', '## More criteria', '- Two'],
    [
      ['1', 'One'],
      ['2', 'Two'],
    ],
  ],
  [
    'no example between fences',
    ['```', '## Criteria', '- Not this', '```', '## Criteria', '1. One', '~~~', '- a', '~~~'],
    [['1', 'One\n~~~\n- a\n~~~']],
  ],
  [
    'no list below a title that only sounds like it',
    ['# Accept card payments', '- customers ask for it', '## Acceptance criteria', '1. One'],
    [['1', 'One']],
  ],
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

test('a document of Windows is read like any other', () => {
  const read = readSpec('\uFEFF# Title\r\n\r\n## Acceptance criteria\r\n\r\n1. One\r\n2. Two\r\n')
  expect(read).toMatchObject({ title: 'Title', criteria: [{ text: 'One' }, { text: 'Two' }] })
})
