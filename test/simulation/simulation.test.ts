import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { FAULTS } from './faults.ts'
import { simulate } from './simulate.ts'

const SEEDS = Number(process.env.SLIPWAY_SEEDS ?? 1_000)

test(`${SEEDS} seeds: nothing is lost, repeated, swapped, illegal or stuck`, {
  timeout: 300_000,
}, () => {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['run', '--silent', 'sim', '--', '--seeds', String(SEEDS), '--json'],
    { encoding: 'utf8', maxBuffer: 1e9 },
  )
  expect(stderr).toBe('')
  expect(status).toBe(0)
  const { seeds, failed, crashes, halts, hits } = JSON.parse(stdout)
  expect({ seeds, failed }).toEqual({ seeds: SEEDS, failed: [] })
  expect(crashes).toBeGreaterThan(SEEDS)
  expect(halts).toBeGreaterThan(SEEDS / 10)
  for (const fault of Object.keys(FAULTS)) expect(hits[fault], fault).toBeGreaterThan(SEEDS / 10)
})

test('the same seed gives the same trace, another seed another', async () => {
  const hashes = async () =>
    Promise.all([11, 12, 13].map(async (seed) => (await simulate(seed)).hash))
  const [first, second] = [await hashes(), await hashes()]
  expect(second).toEqual(first)
  expect(new Set(first).size).toBe(3)
})

test('a failing seed prints its trace, what was violated, and how to see it again', () => {
  const args = ['--seed', '1', '--mutation', 'effects are not stored']
  const { status, stderr } = spawnSync('npm', ['run', '--silent', 'sim', '--', ...args], {
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toMatch(/agent-\S+ 1 born/)
  expect(stderr).toContain('VIOLATED: ')
  expect(stderr).toContain('again: npm run sim -- --seed 1')
})

test.each([[['--seeds', 'many']], [['--mutation', 'none']], [['--nonsense']]])(
  'sim %j is a usage error',
  (args) => {
    const { status, stderr } = spawnSync('npm', ['run', '--silent', 'sim', '--', ...args], {
      encoding: 'utf8',
    })
    expect(status).toBe(2)
    expect(stderr).toMatch(/^sim: /)
  },
)
