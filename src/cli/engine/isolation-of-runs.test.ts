import { expect, test } from 'vitest'
import type { RunSource } from '../view/run-source.ts'
import { requireIsolationOfRuns, unconfinedNote } from './isolation-of-runs.ts'

const source = (isolation: string | undefined, status = 'running'): RunSource => ({
  runs: async () => [{ id: 'r', status, config: isolation ? { isolation } : {} } as never],
  agents: async () => [],
  effects: async () => [],
  lastMs: async () => null,
  rows: async () => [],
})
const NONE = { level: 'none', shortfall: 'bubblewrap is not installed' } as const

test.each([
  ['what began confined is refused', source('bubblewrap'), NONE, undefined, true],
  ['by its name too, although it rests', source('container', 'paused'), NONE, 'r', true],
  ['what rests is in nobody’s way', source('bubblewrap', 'paused'), NONE, undefined, false],
  ['what began unconfined goes on', source('none'), NONE, 'r', false],
  ['what says nothing of it goes on', source(undefined), NONE, 'r', false],
  ['so it does where the user asked for that', source('bubblewrap'), { level: 'none' }, 'r', false],
  ['or where commands are confined', source('container'), { level: 'bubblewrap' }, 'r', false],
] as const)('%s', async (_, runs, isolation, name, isRefused) => {
  const required = requireIsolationOfRuns(runs, isolation, name)
  if (!isRefused) return required
  await expect(required).rejects.toThrow(
    /r began with its commands confined \(\w+\).*not installed.*isolation\.level to none/,
  )
})

test('that nothing is confined is one line with the reason', () => {
  expect(unconfinedNote({ level: 'bubblewrap' })).toBeNull()
  expect(unconfinedNote({ level: 'none' })).toContain('(isolation.level is none)')
  expect(unconfinedNote({ level: 'none', shortfall: 'a\nb' })).toContain('confined (a b): ')
})
