import { expect, test } from 'vitest'
import { SimClock } from '../../test/simulation/sim-clock.ts'
import type { AgentId, EffectId } from '../agents/values.ts'
import type { Attempt, EffectHandler } from './effect-handler.ts'
import { Executor } from './executor.ts'

const blobs = { put: async () => ({ sha256: '', bytes: 0 }), get: async () => new Uint8Array() }
const effect = { id: 'a:1.0' as EffectId, agent: 'a' as AgentId, kind: 'merge', input: null }
const { signal } = new AbortController()
const NO_ROOM = { code: 'merge_failed', message: 'no room', retry: 'later' } as const

/** An executor of merges, which always fail so. */
function setUp(error: (Attempt & { ok: false })['error'], handler: Partial<EffectHandler> = {}) {
  const clock = new SimClock()
  let calls = 0
  const run = async (): Promise<Attempt> => {
    calls += 1
    return { ok: false, error }
  }
  const policy = { attemptsMax: 3 }
  const answers = { probe: async () => true }
  const executor = new Executor({
    handlers: { merge: { policy, ...handler, run } },
    services: { machine: answers, forge: answers },
    blobs,
    clock,
    random: () => 0.5,
  })
  const execute = () => clock.finish(executor.execute(effect, signal, false))
  return { execute, calls: () => calls }
}

const error = { code: 'merge_failed', message: 'no room' }
const waits = { kind: 'unavailable', reason: 'merge_failed: no room', tries: 3, error }

test('what failed for want of a service waits for it, although it names none as its own', async () => {
  const { execute, calls } = setUp({ ...NO_ROOM, service: 'machine' })
  expect(await execute()).toEqual(waits)
  expect(calls()).toBe(3)
})

test.each([
  ['that nobody has', { service: 'moon' }],
  ['that is not named', {}],
])('what failed for want of a service %s has failed', async (_, named) => {
  const { execute } = setUp({ ...NO_ROOM, ...named })
  expect(await execute()).toMatchObject({ kind: 'finished', result: { ok: false } })
})

test('a service is not taken to be out because another was wanting', async () => {
  const { execute, calls } = setUp({ ...NO_ROOM, service: 'machine' }, { serviceOf: () => 'forge' })
  for (let i = 0; i < 3; i += 1) expect(await execute()).toEqual(waits)
  expect(calls()).toBe(9)
})

test('what could only succeed when the service is mended is not tried again before', async () => {
  const { execute, calls } = setUp({ ...NO_ROOM, retry: 'restored', service: 'machine' })
  expect(await execute()).toMatchObject({ kind: 'unavailable', tries: 1 })
  expect(calls()).toBe(1)
})
