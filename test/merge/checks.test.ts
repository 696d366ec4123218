import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Checks } from '../../src/effects/forge/forge.ts'
import { type GitWorld, openGitWorld, plainGit, writeFiles } from '../git/world.ts'
import { openQueue } from './queue.ts'

let world: GitWorld

beforeEach(async () => {
  world = await openGitWorld({ 'gate.sh': 'exit 0\n' })
})

afterEach(() => world.close())

/** Merges a story on a forge that says these things of its checks, the last one for ever. */
async function mergeWith(said: readonly Checks[], checksWaitMsMax: number, checksGraceMs = 0) {
  let asked = 0
  const readChecks = async () => {
    asked += 1
    return { ok: true, value: said[Math.min(asked, said.length) - 1] as Checks } as const
  }
  const settings = { checks: { readChecks, checksGraceMs }, checksWaitMsMax }
  const queue = await openQueue(world, world.git, settings)
  const head = await queue.work('s1', (folder) => writeFiles(folder, { 'new.txt': 'x' }))
  const outcome = await queue.merge('s1', head)
  return { outcome, asked }
}

const mainLog = () => plainGit(world.repositories.mirror, 'log', '--format=%s', 'main')

test.each<[Checks, string]>([
  [{ kind: 'expected', names: ['ci', 'lint'] }, 'checks of the forge never showed: ci, lint'],
  [
    { kind: 'pending', names: ['ci'], retryAfterMs: 10 },
    'checks of the forge did not end in time: ci',
  ],
])('%j is waited for beyond the grace, and then named', async (checks, reason) => {
  const { outcome, asked } = await mergeWith([checks], 200)
  expect(outcome).toEqual({ kind: 'refused', reason })
  expect(asked).toBeGreaterThan(1)
  expect(mainLog()).toBe('init')
})

test('a check that is expected and then passes lets the merge go on', async () => {
  const { outcome } = await mergeWith(
    [{ kind: 'expected', names: ['ci'] }, { kind: 'passed' }],
    60_000,
  )
  expect(outcome).toMatchObject({ kind: 'merged' })
})

test('a forge that expects no check is waited for as long as the grace', async () => {
  const { outcome, asked } = await mergeWith([{ kind: 'none' }], 60_000, 10)
  expect(outcome).toMatchObject({ kind: 'merged' })
  expect(asked).toBeGreaterThan(1)
})
