import { expect, test } from 'vitest'
import type { EffectId } from '../../agents/values.ts'
import type { Checkpoint } from '../workspace/checkpoint.ts'
import type { Owner } from '../workspace/place.ts'
import { UndoneRuns } from './undone-runs.ts'

const OWNER = { run: 'r1', story: 's1' }
const FIRST = 'coder-1:1.0' as EffectId
const LATER = 'coder-1:2.0' as EffectId

/** Workspaces of which some things cannot be done, and what was done in which order. */
function open(...failing: readonly string[]) {
  const order: string[] = []
  const left = [...failing]
  const step = async (name: string) => {
    order.push(name)
    if (left[0] !== name) return
    left.shift()
    throw new Error(`no ${name}`)
  }
  const notes: (string | null)[] = []
  const workspaces = {
    checkpoint: async () => {
      await step('checkpoint')
      return {} as Checkpoint
    },
    rewind: () => step('rewind'),
    async noteRun(_: Owner, forWhom: string | null) {
      notes.push(forWhom)
    },
    findRun: async () => notes.at(-1) ?? undefined,
  }
  const told: string[] = []
  const run = async (effect: EffectId) => {
    order.splice(0)
    const onFailure = (error: unknown) => told.push(String(error))
    // As after a restart: it knows nothing but what the workspaces do.
    const undone = new UndoneRuns(workspaces)
    await undone.run(OWNER, effect, () => step('run'), onFailure).catch(() => {})
    return order
  }
  return { run, told, notes }
}

test('a run has what is there stored before it, and brought back after it', async () => {
  const { run, told } = open('run')
  expect(await run(FIRST), 'also one that rejects').toEqual(['checkpoint', 'run', 'rewind'])
  expect(await run(FIRST)).toEqual(['checkpoint', 'run', 'rewind'])
  expect(told).toEqual([])
})

test('what could not be brought back is, before it is stored at the next try', async () => {
  const { run, told } = open('rewind', 'rewind')
  expect(await run(FIRST)).toEqual(['checkpoint', 'run', 'rewind'])
  expect(await run(FIRST)).toEqual(['rewind'])
  expect(await run(FIRST)).toEqual(['rewind', 'checkpoint', 'run', 'rewind'])
  expect(await run(FIRST)).toEqual(['checkpoint', 'run', 'rewind'])
  expect(told).toEqual(['Error: no rewind', 'Error: no rewind'])
})

test('what could not be stored is not run, and not brought back to what was stored before', async () => {
  const { run, told } = open('checkpoint')
  expect(await run(FIRST)).toEqual(['checkpoint'])
  expect(await run(FIRST)).toEqual(['checkpoint', 'run', 'rewind'])
  expect(told).toEqual(['Error: no checkpoint'])
})

test('work that came after a run is not undone with it', async () => {
  const { run, notes } = open('rewind')
  await run(FIRST)
  expect(await run(LATER)).toEqual(['checkpoint', 'run', 'rewind'])
  expect(notes).toEqual([FIRST, LATER, null])
})
