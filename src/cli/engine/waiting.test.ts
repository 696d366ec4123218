import { expect, test } from 'vitest'
import type { Health } from '../../runtime/runtime.ts'
import type { RunSource } from '../view/run-source.ts'
import { waitForFailure, waitForRest } from './waiting.ts'

const FAILED: Health = { state: 'failed', error: 'the disk is gone' }
const LEFT = AbortSignal.abort()
const NO_RUNS = { runs: async () => [] } as unknown as RunSource

const NEVER = new AbortController().signal

/** Waits for a runtime of that health. */
type Wait = (health: Health, signal: AbortSignal) => Promise<void>

const runtime = (health: Health) => ({ health: () => health, idle: async () => {} })
const rest: Wait = (health, signal) => waitForRest(NO_RUNS, runtime(health), () => false, signal)
const failure: Wait = (health, signal) => waitForFailure(runtime(health), signal)

test.each([
  ['nothing is left', rest],
  ['it fails', failure],
])('who waits until %s hears of a failure, also as it is left', async (_, wait) => {
  await expect(wait(FAILED, NEVER)).rejects.toThrow('the disk is gone')
  await expect(wait(FAILED, LEFT)).rejects.toThrow('the disk is gone')
  await expect(wait({ state: 'well' }, LEFT)).resolves.toBeUndefined()
})

test('nothing rests while somebody is having something begun', async () => {
  let isAsked = true
  const resting = waitForRest(NO_RUNS, runtime({ state: 'well' }), () => isAsked, NEVER, 100)
  const rested = resting.then(() => 'rested')
  const later = new Promise((resolve) => setTimeout(() => resolve('later'), 2_500))
  expect(await Promise.race([rested, later])).toBe('later')
  isAsked = false
  expect(await rested).toBe('rested')
}, 20_000)
