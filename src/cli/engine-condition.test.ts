import { expect, test } from 'vitest'
import { describeCondition } from './engine-condition.ts'

const WELL = { state: 'well' } as const
const FULL = 'the disk is full'

test.each([
  ['an engine that is well', { health: WELL, unconfined: null }, []],
  ['one that confines nothing', { health: WELL, unconfined: 'Nothing.' }, ['Nothing.']],
  [
    'one that waits for its journal',
    { health: { state: 'waiting_for_journal', error: FULL }, unconfined: null },
    ['It waits: the disk is full'],
  ],
  [
    'one that waits for room, and confines nothing',
    { health: { state: 'waiting_for_room', error: FULL }, unconfined: 'Nothing.' },
    ['Nothing.', 'It waits: the disk is full'],
  ],
  [
    'one that has failed, and waits for nothing',
    { health: { state: 'failed', error: 'it is damaged' }, unconfined: null },
    ['The engine has failed: it is damaged'],
  ],
] as const)('%s says so', (_, condition, lines) => {
  expect(describeCondition(condition, 'none')).toEqual(lines)
})

test('without an engine it is said what held when the run began', () => {
  expect(describeCondition(null, 'bubblewrap')).toEqual([])
  expect(describeCondition(null, null)).toEqual([])
  expect(describeCondition(null, 'none')).toEqual([
    'Nothing was confined: commands of its models ran as you.',
  ])
})
