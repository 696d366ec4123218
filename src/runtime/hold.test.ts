import { describe, expect, test } from 'vitest'
import { SimClock } from '../../test/simulation/sim-clock.ts'
import type { AgentId, EffectId } from '../agents/values.ts'
import type { Attempt, EffectHandler } from './effect-handler.ts'
import { Executor } from './executor.ts'

const blobs = {
  put: async () => ({ sha256: '', bytes: 0 }),
  get: async () => new Uint8Array(),
}
const done: Attempt = { ok: true, value: 'done' }
const BUSY = { code: 'busy', message: 'busy', retry: 'later' } as const
const busy: Attempt = { ok: false, error: BUSY }
const closed: Attempt = { ok: false, error: { ...BUSY, retryAfterMs: 5_000 } }
const effectOf = (agent: string) => ({
  id: `${agent}:1.0` as EffectId,
  agent: agent as AgentId,
  kind: 'think',
  input: null,
})
const signal = () => new AbortController().signal

/** An executor that writes down what is held, and when a handler begins. */
function setUp(answers: readonly Attempt[], { isRecalled = true } = {}) {
  const clock = new SimClock()
  const log: string[] = []
  let calls = 0
  const think: EffectHandler = {
    serviceOf: () => 'model',
    ...(isRecalled && { recall: () => undefined }),
    run: async ({ agent }) => {
      log.push(`${agent} begins`)
      await clock.delay(100)
      calls += 1
      return answers[Math.min(calls, answers.length) - 1] ?? done
    },
  }
  const onHeld = async (effect: EffectId, isHeld: boolean) => {
    log.push(`${effect.slice(0, 1)} ${isHeld ? 'held' : 'let go'}`)
  }
  const services = { model: { concurrencyMax: 1, probe: async () => true } }
  const handlers = { think }
  const executor = new Executor({ handlers, services, blobs, clock, random: () => 0.25, onHeld })
  return { clock, log, executor }
}

describe('an effect that has to be known not to have begun', () => {
  test('is not held where it need not wait', async () => {
    const { clock, log, executor } = setUp([done])
    await clock.finish(executor.execute(effectOf('a'), signal(), false))
    expect(log).toEqual(['a begins'])
  })

  test('is held while it waits for a place at its service', async () => {
    const { clock, log, executor } = setUp([done])
    const both = ['a', 'b'].map((agent) => executor.execute(effectOf(agent), signal(), false))
    await clock.finish(Promise.all(both))
    expect(log).toEqual(['b held', 'a begins', 'b let go', 'b begins'])
  })

  test.each([
    ['for the next try', busy],
    ['because the service asked to be left alone', closed],
  ])('is held while it waits %s', async (_, failure) => {
    const { clock, log, executor } = setUp([failure, done])
    await clock.finish(executor.execute(effectOf('a'), signal(), false))
    expect(log).toEqual(['a begins', 'a held', 'a let go', 'a begins'])
  })

  test('is let go before it begins where an earlier process held it', async () => {
    const { clock, log, executor } = setUp([done])
    await clock.finish(executor.execute(effectOf('a'), signal(), true, true))
    expect(log).toEqual(['a let go', 'a begins'])
  })
})

test('nothing is said of an effect about which nobody asks', async () => {
  const { clock, log, executor } = setUp([busy, done], { isRecalled: false })
  await clock.finish(executor.execute(effectOf('a'), signal(), false))
  expect(log).toEqual(['a begins', 'a begins'])
})

test('an effect does not begin when that can be told to nobody', async () => {
  const { clock, log } = setUp([])
  const handlers = { think: { recall: () => undefined, run: async () => done } }
  const onHeld = async () => {
    log.push('refused')
    throw new Error('closed')
  }
  const executor = new Executor({ handlers, services: {}, blobs, clock, random: () => 0, onHeld })
  const ending = await clock.finish(executor.execute(effectOf('a'), signal(), true, true))
  expect(ending).toEqual({ kind: 'aborted' })
  expect(log).toEqual(['refused'])
})
