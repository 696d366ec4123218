import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { currentBranch } from '../../src/cli/run.ts'
import { Place } from './place.ts'

let place: Place
beforeEach(() => {
  place = new Place()
})
afterEach(() => place.remove())

/** Whether nothing is in the way of a run, as the doctor sees it. */
async function repositoryOf(root: string): Promise<string> {
  const there = Object.assign(Object.create(place), { repository: root })
  const { stdout } = await there.slipway('doctor', '--json')
  const { checks }: { checks: { name: string; found: string }[] } = JSON.parse(stdout)
  return checks.find(({ name }) => name === 'repository')?.found ?? ''
}

test('a further work tree has a branch of its own', async () => {
  const root = join(place.folder, 'tree')
  place.git('worktree', 'add', '-q', '-b', 'side', root)
  expect(await currentBranch(root)).toBe('side')
  expect(await currentBranch(place.repository)).toBe('main')
  expect(await repositoryOf(root)).toBe(`${root}, target side`)
})

test('a repository may be kept elsewhere than its files', async () => {
  place.git('init', '-q', '--separate-git-dir', join(place.folder, 'elsewhere'))
  expect(await currentBranch(place.repository)).toBe('main')
  expect(await repositoryOf(place.repository)).toBe(`${place.repository}, target main`)
})
