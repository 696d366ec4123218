import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Repetition, remember, repetitiveAmong } from './repetition.ts'

/** A call as it is made again and again: what it comes to, and whether it only reads. */
interface Made {
  readonly key: string
  readonly result?: string
  readonly isReading?: true
}

const TRANSCRIPT = { tail: { sha256: 'b', bytes: 1 }, travelling: [], parts: 1, bytes: 1 }

/** Which of these calls, made one after the other, are refused. */
function refusedOf(calls: readonly Made[]): boolean[] {
  let known: Repetition = {}
  return calls.map(({ key, result = 'same', isReading }) => {
    const isRefused = repetitiveAmong(known, [{ key }]).length > 0
    const mayHaveChanged = !isReading && !isRefused
    const answer = { id: '1', isError: false, result, mayHaveChanged, ends: null }
    known = remember(known, new Map([['1', key]]), { transcript: TRANSCRIPT, answers: [answer] })
    return isRefused
  })
}

const times = <Value>(count: number, ...values: Value[]): Value[] =>
  Array.from({ length: count }, () => values).flat()

const READ: Made = { key: 'read', isReading: true }
const TESTS: Made = { key: 'tests' }

test('the fourth time is refused, and every other after it', () => {
  const wanted = [false, false, false, true, true]
  expect(refusedOf(times(5, READ))).toEqual(wanted)
  expect(refusedOf(times(5, TESTS))).toEqual(wanted)
})

test('other answers are no repetition', () => {
  const calls = ['a', 'b', 'a', 'b', 'a', 'b'].map((result) => ({ ...READ, result }))
  expect(refusedOf(calls)).not.toContain(true)
})

test('reading something else changes nothing', () => {
  const other: Made = { key: 'other', isReading: true }
  expect(refusedOf([...times(3, READ), other, READ]).at(-1)).toBe(true)
})

test.each([READ, TESTS])(
  'after another call that may have changed something, %o may be new',
  (call) => {
    const change = (name: string): Made => ({ key: name })
    expect(refusedOf([...times(3, call), change('sed 1'), call])).not.toContain(true)
    const work = Array.from({ length: 20 }, (_, i) => [change(`sed ${i}`), call]).flat()
    expect(refusedOf(work)).not.toContain(true)
    const back = [...times(4, call), change('sed 1'), ...times(4, call)]
    expect(refusedOf(back).lastIndexOf(false)).toBe(back.length - 2)
  },
)

test('the same change with the same answer is no change any more', () => {
  const change: Made = { key: 'sed' }
  const refused = refusedOf(times(6, READ, change))
  // The first counts, so that reading is counted from the second time on.
  expect(refused.slice(0, 7)).not.toContain(true)
  expect(refused.slice(-3)).not.toContain(false)
})

/** So many calls that are all different, as keys are: by hashes. */
const different = (count: number, isReading?: true): Made[] =>
  Array.from({ length: count }, (_, i) => ({
    key: createHash('sha256').update(`${i}`).digest('base64url').slice(0, 16),
    ...(isReading && { isReading }),
  }))

test.each([2, 3, 33, 128])('a loop of %i calls comes to an end', (count) => {
  const ends = refusedOf(times(12, ...different(count))).slice(-count * 6)
  expect(ends).not.toContain(false)
  const read = refusedOf(times(6, ...different(count, true)))
  expect(read.lastIndexOf(false)).toBe(3 * count - 1)
})

test('what is remembered is at most 4 KB, and what is read begins anew after a change', () => {
  let known: Repetition = {}
  const make = (key: string, mayHaveChanged: boolean) => {
    const answer = { id: '1', isError: false, result: key, mayHaveChanged, ends: null }
    known = remember(known, new Map([['1', key]]), { transcript: TRANSCRIPT, answers: [answer] })
  }
  for (const { key } of different(1_000)) make(key, false)
  expect(JSON.stringify(known).length).toBeLessThan(4_096)
  expect(Object.keys(known)).toHaveLength(128)
  make('sed', true)
  expect(Object.keys(known)).toEqual(['sed'])
})

test('a call that always answers something else does not keep a loop alive', () => {
  const loop = Array.from({ length: 12 }, (_, i) => [READ, { key: 'date', result: `${i}` }]).flat()
  const read = refusedOf(loop).filter((_, i) => i % 2 === 0)
  expect(read.slice(-5)).not.toContain(false)
})

test('of the same calls at once the fourth is refused, and its advice is no answer', () => {
  const calls = Array.from({ length: 5 }, (_, i) => ({ id: `${i}`, key: 'read' }))
  const other = { id: 'other', key: 'other' }
  expect(repetitiveAmong({}, [...calls, other]).map(({ id }) => id)).toEqual(['3', '4'])
  const resultOf = (id: string) => (['3', '4'].includes(id) ? 'advice' : id)
  const answers = calls.map(({ id }) => ({
    id,
    isError: false,
    result: resultOf(id),
    mayHaveChanged: false,
    ends: null,
  }))
  const keys = new Map(calls.map(({ id, key }) => [id, key]))
  const known = remember({}, keys, { transcript: TRANSCRIPT, answers })
  expect(known.read).toEqual(['2', 1, 0])
  expect(repetitiveAmong(known, calls).map(({ id }) => id)).toEqual(['2', '3', '4'])
})
