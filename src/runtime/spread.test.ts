import { expect, test } from 'vitest'
import { Random } from '../../test/drill/random.ts'
import { SimClock } from '../../test/simulation/sim-clock.ts'
import type { AgentId, EffectId } from '../agents/values.ts'
import type { Attempt } from './effect-handler.ts'
import { Executor } from './executor.ts'

const blobs = {
  put: async () => ({ sha256: '', bytes: 0 }),
  get: async () => new Uint8Array(),
}
const effect = { id: 'a:1.0' as EffectId, agent: 'a' as AgentId, kind: 'think', input: null }
const done: Attempt = { ok: true, value: 'done' }
const limited = (retryAfterMs: number): Attempt => ({
  ok: false,
  error: { code: 'limit', message: '', retry: 'later', retryAfterMs },
})
const signal = () => new AbortController().signal

/** Twenty agents whose service tells the first that asks to wait, and when each asked. */
function setUpCrowd(waitMs: number) {
  const clock = new SimClock()
  const random = new Random(7)
  const calls: number[] = []
  const run = async () => {
    calls.push(clock.elapsedMs)
    return calls.length === 1 ? limited(waitMs) : done
  }
  const services = { model: { probe: async () => true } }
  const handlers = { think: { serviceOf: () => 'model', run } }
  const parts = { handlers, services, blobs, clock, random: () => random.next() }
  const executor = new Executor(parts)
  const ask = () =>
    Array.from({ length: 20 }, (_, i) =>
      executor.execute({ ...effect, agent: `a${i}` as AgentId }, signal(), false),
    )
  return { clock, calls, executor, ask }
}

test.each([
  [2_000, 1_000],
  [50_000, 5_000],
])(
  'a service is not asked by all at once %i ms later, and never before',
  async (waitMs, spreadMs) => {
    const { clock, calls, executor, ask } = setUpCrowd(waitMs)
    const first = executor.execute(effect, signal(), false)
    await new Promise((resolve) => setImmediate(resolve))
    await clock.finish(Promise.all([first, ...ask()]))
    const later = calls.slice(1)
    expect(later).toHaveLength(21)
    expect(Math.min(...later)).toBeGreaterThanOrEqual(waitMs)
    expect(Math.max(...later)).toBeLessThanOrEqual(waitMs + spreadMs)
    expect(Math.max(...later) - Math.min(...later)).toBeGreaterThan(spreadMs / 2)
    expect(new Set(later).size).toBeGreaterThan(15)
  },
)

test('a service is not asked by all at once when it answers again', async () => {
  const { clock, calls, executor, ask } = setUpCrowd(7_200_000)
  expect(await clock.finish(executor.execute(effect, signal(), false))).toMatchObject({
    kind: 'unavailable',
  })
  clock.after(7_200_000, () => {})
  clock.advance()
  expect(await executor.probeAll(signal())).toBe(true)
  await clock.finish(Promise.all(ask()))
  const later = calls.slice(1)
  expect(Math.min(...later)).toBeGreaterThanOrEqual(7_200_000)
  expect(new Set(later).size).toBeGreaterThan(15)
  clock.after(1_000, () => {})
  clock.advance()
  await clock.finish(Promise.all(ask()))
  expect(new Set(calls.slice(-20)).size, 'later nobody waits').toBe(1)
})
