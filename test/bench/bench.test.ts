import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { MACHINES } from '../../src/machines/catalog.ts'

const npm = (...args: string[]) => spawnSync('npm', args, { encoding: 'utf8' })
const bench = (...args: string[]) => npm('run', '--silent', 'bench', '--', ...args)

test('bench step --json prints one object with figures for us and for the peer', () => {
  const report = JSON.parse(bench('step', '--json', '--quick').stdout)
  expect(report).toMatchObject({
    name: 'step',
    machine: { cpu: expect.any(String), cores: expect.any(Number) },
    versions: { slipway: expect.any(String), node: process.versions.node, xstate: '5.33.3' },
  })
  expect(report.rows).toHaveLength(2 * MACHINES.length)
  for (const row of report.rows) {
    expect(row).toEqual({
      subject: expect.stringMatching(/^[\w-]+@\w (slipway|xstate)$/),
      metric: 'transitions',
      value: expect.any(Number),
      unit: '1/s',
    })
  }
  expect(report.goals).toHaveLength(MACHINES.length)
  expect(report.goals[0]).toEqual({
    name: expect.any(String),
    goal: '>= 100',
    value: expect.any(Number),
    met: expect.any(Boolean),
  })
})

test('bench step prints a table', () => {
  expect(bench('step', '--quick').stdout).toMatch(/SUBJECT +METRIC +VALUE +UNIT/)
})

test.each([
  ['recover', ['start on 10,000 rows, ms', 'growth of the start with ten times the rows']],
  ['idle', undefined],
  ['dispatch', ['time a story, 40 stories beside 20']],
])('bench %s --json --quick measures its goals', (name, goals) => {
  const report = JSON.parse(bench(name, '--json', '--quick').stdout)
  expect(report.name).toBe(name)
  expect(report.rows.length).toBeGreaterThan(1)
  const names = report.goals.map((goal: { name: string }) => goal.name)
  if (goals === undefined) expect(names.length).toBeGreaterThan(2)
  else expect(names).toEqual(goals)
})

test('bench turn --json --quick measures us beside the agents that are installed', () => {
  const report = JSON.parse(bench('turn', '--json', '--quick').stdout)
  const peers = Object.keys(report.versions).filter((name) => !['slipway', 'node'].includes(name))
  const subjects = new Set(report.rows.map((row: { subject: string }) => row.subject))
  expect([...subjects].sort()).toEqual(['slipway', 'its parts alone', ...peers].sort())
  for (const { value } of report.rows) expect(value).toBeGreaterThan(0)
  expect(report.goals).toHaveLength(peers.length === 0 ? 1 : 3)
}, 120_000)

test.each([[['nonsense']], [[]], [['step', '--nonsense']], [['step', 'step']]])(
  'bench %j is a usage error that lists the benchmarks',
  (args) => {
    const { status, stderr } = bench(...args)
    expect(status).toBe(2)
    expect(stderr).toContain('step: transitions per second')
  },
)

test('the benchmarks compile with the types of their peers', () => {
  const { stdout, status } = spawnSync('node_modules/.bin/tsc', ['-p', 'bench'], {
    encoding: 'utf8',
  })
  expect({ stdout, status }).toEqual({ stdout: '', status: 0 })
})
