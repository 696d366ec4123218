import { expect, test } from 'vitest'
import { columnsOf, rowsOf } from './terminal-size.ts'

test.each([
  [{ columns: 40, rows: 10 }, 40, 10],
  // A pty whose size nobody has set.
  [{ columns: 0, rows: 0 }, 100, 45],
  // A file or a pipe.
  [{}, 100, 45],
])('the size of %j is %d x %d', (stream, columns, rows) => {
  expect(columnsOf(stream as NodeJS.WriteStream, 100)).toBe(columns)
  expect(rowsOf(stream as NodeJS.WriteStream, 45)).toBe(rows)
})

test('without a size there is no end to a line', () => {
  expect(columnsOf({ columns: 0 })).toBe(Infinity)
})
