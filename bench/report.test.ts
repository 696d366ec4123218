import { expect, test } from 'vitest'
import { atLeast, below, drawReport, reportOf } from './report.ts'

test.each([
  [atLeast('x', 100, 100), true],
  [atLeast('x', 100, 99.99), false],
  [below('x', 150, 149.99), true],
  [below('x', 150, 150), false],
])('%j is met: %s', (goal, met) => {
  expect(goal.met).toBe(met)
})

test('a missed goal stands out in the table', () => {
  const rows = [{ subject: 'us', metric: 'rate', value: 1234.5, unit: '1/s' }]
  const report = reportOf('x', '1.0.0', { rows, goals: [below('late', 1, 2)] })
  expect(drawReport(report)).toMatch(/us +rate +1,235 +1\/s/)
  expect(drawReport(report)).toMatch(/MISSED +late +< 1 +2/)
})
