import { expect, test } from 'vitest'
import type { StoredRow } from '../../runtime/records.ts'
import { newsOf } from './news.ts'

const MOVED = {
  kind: 'moved',
  agentId: 'r/coder-1',
  from: 'TESTING',
  to: 'FIXING',
  move: 'tests_failed',
  atMs: 0,
}

test.each([
  [{ reason: 'nothing says how\nthis is tested' }, 'tests_failed (nothing says how)'],
  [{ reason: '\nthree fail' }, 'tests_failed (three fail)'],
  [{ reason: 'x'.repeat(500) }, `tests_failed (${'x'.repeat(160)})`],
  [{ reason: '' }, 'tests_failed'],
  [{}, 'tests_failed'],
])('of a row with %j the line ends with %s', (body, end) => {
  const line = newsOf({ ...MOVED, body } as unknown as StoredRow)
  expect(line).toBe(`00:00:00  coder-1        TESTING → FIXING  ${end}`)
})
