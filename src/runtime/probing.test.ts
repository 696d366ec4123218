import { expect, test } from 'vitest'
import { SimClock } from '../../test/simulation/sim-clock.ts'
import type { Service } from './effect-handler.ts'
import { Executor } from './executor.ts'

const blobs = { put: async () => ({ sha256: '', bytes: 0 }), get: async () => new Uint8Array() }
const { signal } = new AbortController()

/** An executor with a service that answers, and another one. */
function setUp(other: Service) {
  const clock = new SimClock()
  const services = { good: { probe: async () => true }, other }
  const executor = new Executor({ handlers: {}, services, blobs, clock, random: () => 0 })
  return { clock, probeAll: () => clock.finish(executor.probeAll(signal)) }
}

test.each<[string, Service['probe'], boolean]>([
  ['all answer', async () => true, true],
  ['one does not', async () => false, false],
  ['one throws', async () => Promise.reject(new Error('x')), false],
  ['one hangs', () => new Promise(() => {}), false],
])('services are probed, and %s', async (_, probe, areAnswering) => {
  expect(await setUp({ probe }).probeAll()).toBe(areAnswering)
})

test.each([
  [{}, false],
  [{ probeTimeoutMs: 60_000 }, true],
  [{ probeTimeoutMs: 20_000 }, false],
])(
  'a service that takes half a minute to answer, and has %j, answers: %s',
  async (given, isAnswering) => {
    let isEnded = false
    const probe = async (end: AbortSignal) => {
      end.addEventListener('abort', () => {
        isEnded = true
      })
      await clock.delay(30_000)
      return true
    }
    const { clock, probeAll } = setUp({ probe, ...given })
    expect(await probeAll()).toBe(isAnswering)
    expect(isEnded, 'nobody waits for it any more').toBe(true)
  },
)
