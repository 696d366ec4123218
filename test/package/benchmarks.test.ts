import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

test.each([
  ['package', ['unpacked size, MB', 'npm ci, s', 'slipway --version, ms']],
  ['demo', ['the longest demo, s']],
])('bench %s --json --quick builds what it measures, and measures its goals', (name, goals) => {
  const args = ['run', '--silent', 'bench', '--', name, '--json', '--quick']
  const report = JSON.parse(spawnSync('npm', args, { encoding: 'utf8' }).stdout)
  expect(report.name).toBe(name)
  expect(report.goals.map((goal: { name: string }) => goal.name)).toEqual(goals)
  expect(report.rows.length).toBeGreaterThan(1)
  for (const { value } of report.rows) expect(value).toBeGreaterThan(0)
})
