import { describe, expect, test } from 'vitest'
import { SimClock } from '../../test/simulation/sim-clock.ts'
import type { AgentId, EffectId } from '../agents/values.ts'
import {
  type Attempt,
  type EffectHandler,
  NAMED_WAIT_MS_MAX,
  type Service,
} from './effect-handler.ts'
import { type Ending, Executor } from './executor.ts'

const blobs = {
  put: async () => ({ sha256: '', bytes: 0 }),
  get: async () => new Uint8Array(),
}
const effect = { id: 'a:1.0' as EffectId, agent: 'a' as AgentId, kind: 'think', input: null }
const done: Attempt = { ok: true, value: 'done' }
const later = (code: string, retryAfterMs?: number): Attempt => ({
  ok: false,
  error: { code, message: code, retry: 'later', ...(retryAfterMs && { retryAfterMs }) },
})
const thirdTime: Attempt = {
  ok: false,
  error: { code: 'x', message: 'x', retry: 'later', failuresBefore: 2 },
}
const never: Attempt = { ok: false, error: { code: 'refused', message: 'no', retry: 'never' } }

/** A handler that hangs ends when it is aborted; a deaf one never does. */
type Answer = Attempt | 'hang' | 'deaf' | 'throw'

/** An executor on a clock that the test owns, whose handler gives these answers in turn. */
function setUp(answers: Answer[], handler: Partial<EffectHandler> = {}, runningMax = 9) {
  const clock = new SimClock()
  const calls: number[] = []
  const startedMs = clock.nowMs()
  const think: EffectHandler = {
    policy: { retryDelayMs: 1_000, attemptsMax: 3, timeoutMs: 10_000, ...handler.policy },
    run: async (_, context) => {
      calls.push(clock.nowMs() - startedMs)
      const answer = answers[Math.min(calls.length, answers.length) - 1]
      if (answer === 'throw') throw new Error('it threw')
      if (answer === 'deaf' || answer === undefined) return new Promise(() => {})
      return answer === 'hang' ? untilAborted(context.signal) : answer
    },
    ...(handler.serviceOf && { serviceOf: handler.serviceOf }),
    ...(handler.recognise && { recognise: handler.recognise }),
    ...(handler.recall && { recall: handler.recall }),
  }
  const services: Record<string, Service> = {
    model: { concurrencyMax: 2, probe: async () => true },
  }
  const parts = { handlers: { think }, services, blobs, clock, random: () => 0.25, runningMax }
  return { clock, calls, executor: new Executor(parts) }
}

function untilAborted(signal: AbortSignal): Promise<Attempt> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(never)))
}

const signal = () => new AbortController().signal
const failed = (code: string) => ({ kind: 'finished', result: { ok: false, error: { code } } })

describe('an effect without a service', () => {
  test.each<[string, Answer[], object, number[]]>([
    ['succeeds at once', [done], { result: done }, [0]],
    [
      'is tried again, each wait twice the last, with jitter',
      [later('x'), later('x'), done],
      { result: done },
      [0, 625, 1_875],
    ],
    ['fails when its tries are spent', [later('busy')], failed('busy'), [0, 625, 1_875]],
    ['is not tried again when that is no use', [never], failed('refused'), [0]],
    ['waits as long as it is told', [later('limit', 5_000), done], { result: done }, [0, 5_250]],
    ['waits longer for what failed twice before', [thirdTime, done], { result: done }, [0, 2_500]],
    [
      'waits however long it is told',
      [later('limit', 7_200_000), done],
      { result: done },
      [0, 7_215_000],
    ],
    [
      'is not waited for at its timeout, which may pass',
      ['hang', done],
      { result: done },
      [0, 10_625],
    ],
    [
      'that is deaf to its abort is given five seconds to end before the next try',
      ['deaf', done],
      { result: done },
      [0, 15_625],
    ],
    ['that throws is an outcome, not a crash', ['throw'], failed('handler_threw'), [0]],
  ])('%s', async (_, answers, ending, times) => {
    const { clock, calls, executor } = setUp(answers)
    expect(await clock.finish(executor.execute(effect, signal(), false))).toMatchObject(ending)
    expect(calls).toEqual(times)
  })

  test('of a kind that nothing handles fails with its name', async () => {
    const { executor } = setUp([done])
    const ending = await executor.execute({ ...effect, kind: 'fly' }, signal(), false)
    expect(ending).toMatchObject(failed('no_handler'))
  })

  test('is bounded in its output: at the limit it passes, one byte more fails', async () => {
    const of = (length: number) =>
      setUp([{ ok: true, value: 'x'.repeat(length) }], { policy: { outputBytesMax: 100 } })
    const run = async (length: number) => of(length).executor.execute(effect, signal(), false)
    expect(await run(98)).toMatchObject({ result: { ok: true } })
    expect(await run(99)).toMatchObject(failed('output_too_large'))
  })

  test('is recognised as done when it is repeated, and only then', async () => {
    const recognise = async () => ({ ok: true, value: 'recognised' }) as const
    const first = setUp([done], { recognise })
    expect(await first.executor.execute(effect, signal(), false)).toMatchObject({ result: done })
    const again = setUp([done], { recognise })
    expect(await again.executor.execute(effect, signal(), true)).toMatchObject({
      result: { ok: true, value: 'recognised' },
    })
    expect(again.calls).toEqual([])
  })

  test('is over before its service is looked at, where its handler recalls how it ended', async () => {
    const value = 'recalled'
    const { calls, executor } = setUp([done], {
      serviceOf: () => 'model',
      recall: () => ({ ok: true, value }),
    })
    executor.close({ service: 'model', untilMs: 1e12 })
    const ending = await executor.execute(effect, signal(), false)
    expect(ending).toEqual({ kind: 'finished', result: { ok: true, value } })
    expect(calls).toEqual([])
  })

  test('does not wait for what a service named that is there no more', async () => {
    const { executor } = setUp([done], { serviceOf: () => 'model' })
    executor.close({ service: 'model by its earlier name', untilMs: 1e12 })
    expect(await executor.execute(effect, signal(), false)).toMatchObject({ result: done })
    expect(await executor.probeAll(signal())).toBe(true)
  })

  test('is not begun when it was cancelled while it was to be recognised', async () => {
    const { clock, calls, executor } = setUp([done], {
      recognise: async () => {
        await clock.delay(1_000)
        return undefined
      },
    })
    const end = new AbortController()
    clock.after(500, () => end.abort())
    const ending = await clock.finish(executor.execute(effect, end.signal, true))
    expect(ending).toEqual({ kind: 'aborted' })
    expect(calls).toEqual([])
  })

  test.each<[string, Answer[], number]>([
    ['while it runs', ['hang'], 500],
    ['while it waits for the next try', [later('busy')], 500],
    ['and waited for, at most five seconds', ['deaf'], 5_500],
  ])('is cancelled %s', async (_, answers, endMs) => {
    const { clock, executor } = setUp(answers)
    const end = new AbortController()
    clock.after(500, () => end.abort())
    const ending = await clock.finish(executor.execute(effect, end.signal, false))
    expect(ending).toEqual({ kind: 'aborted' })
    expect(clock.elapsedMs).toBe(endMs)
  })
})

describe('all effects together', () => {
  const execute = (executor: Executor, agent: string, n: number, end = signal()) =>
    executor.execute(
      { ...effect, agent: agent as AgentId, id: `${agent}:${n}.0` as EffectId },
      end,
      false,
    )

  test('are no more at once than the limit, whatever they need', async () => {
    const { clock, calls, executor } = setUp(['hang'], { policy: { attemptsMax: 1 } }, 2)
    await clock.finish(Promise.all([1, 2, 3].map((n) => execute(executor, 'a', n))))
    expect(calls).toEqual([0, 0, 10_000])
  })

  test('come in turns by agent: one that asks for much keeps nobody waiting', async () => {
    const order: string[] = []
    const clock = new SimClock()
    const run = async ({ id }: { id: string }): Promise<Attempt> => {
      order.push(id)
      await clock.delay(10)
      return done
    }
    const parts = { handlers: { think: { run } }, services: {}, blobs, clock, random: () => 0 }
    const executor = new Executor({ ...parts, runningMax: 1 })
    const many = [1, 2, 3, 4].map((n) => execute(executor, 'a', n))
    await clock.finish(Promise.all([...many, execute(executor, 'b', 1), execute(executor, 'c', 1)]))
    expect(order).toEqual(['a:1.0', 'a:2.0', 'b:1.0', 'c:1.0', 'a:3.0', 'a:4.0'])
  })

  test('do not hold a place while they wait for another try', async () => {
    const { clock, calls, executor } = setUp([later('busy'), done], {}, 1)
    await clock.finish(Promise.all([execute(executor, 'a', 1), execute(executor, 'b', 1)]))
    expect(calls).toEqual([0, 0, 625])
  })

  test('that are cancelled while they wait for a place end at once and take none', async () => {
    const { clock, calls, executor } = setUp(['hang', done], { policy: { attemptsMax: 1 } }, 1)
    const first = execute(executor, 'a', 1)
    const end = new AbortController()
    const second = execute(executor, 'b', 1, end.signal)
    const third = execute(executor, 'c', 1)
    clock.after(500, () => end.abort())
    expect(await clock.finish(second)).toEqual({ kind: 'aborted' })
    expect(clock.elapsedMs).toBe(500)
    await clock.finish(Promise.all([first, third]))
    expect(calls).toEqual([0, 10_000])
  })
})

describe('an effect that needs a service', () => {
  const serviceOf = () => 'model'

  test('waits for the service when its tries are spent', async () => {
    const { clock, executor } = setUp([later('overloaded')], { serviceOf })
    const ending = await clock.finish(executor.execute(effect, signal(), false))
    expect(ending).toEqual({ kind: 'unavailable', reason: 'overloaded: overloaded', tries: 3 })
  })

  test('says until when, where the service asked for a long wait', async () => {
    const { clock, executor } = setUp([later('limit', 7_200_000)], { serviceOf })
    const nowMs = clock.nowMs()
    const ending = await clock.finish(executor.execute(effect, signal(), false))
    expect(ending).toMatchObject({ kind: 'unavailable', untilMs: nowMs + 7_200_000 })
    expect(clock.elapsedMs).toBe(0)
  })

  test("keeps others from asking while it waits: one agent's 429 is everybody's", async () => {
    const { clock, calls, executor } = setUp([later('limit', 30_000), done], { serviceOf })
    const first = executor.execute(effect, signal(), false)
    await new Promise((resolve) => setImmediate(resolve))
    const second = executor.execute({ ...effect, id: 'b:1.0' as EffectId }, signal(), false)
    await clock.finish(Promise.all([first, second]))
    expect(calls).toEqual([0, 30_750, 30_750])
  })

  test.each<[string, number, string[], object]>([
    ['a short while waits as long', 30_000, ['a@0', 'b@0', 'a@30000', 'b@30000'], { result: done }],
    [
      'hours is not tried again, and knows until when',
      7_200_000,
      ['a@0', 'b@0'],
      { kind: 'unavailable', tries: 1, untilMs: expect.any(Number) },
    ],
  ])('that is between two tries when another is told to wait %s', async (_, ms, tries, ending) => {
    const seen: string[] = []
    const clock = new SimClock()
    const run = async ({ agent }: { agent: string }): Promise<Attempt> => {
      seen.push(`${agent}@${clock.elapsedMs}`)
      if (seen.length > 2) return done
      return agent === 'a' ? later('limit', ms) : later('overloaded')
    }
    const services = { model: { probe: async () => true } }
    const handlers = { think: { serviceOf, run } }
    const executor = new Executor({ handlers, services, blobs, clock, random: () => 0 })
    const [, second] = ['a', 'b'].map((agent) =>
      executor.execute({ ...effect, agent: agent as AgentId }, signal(), false),
    )
    expect(await clock.finish(second as Promise<Ending>)).toMatchObject(ending)
    expect(seen).toEqual(tries)
  })

  test.each<[string, number, number[], object]>([
    ['a short while waits as long', 30_000, [0, 30_750, 30_750], { result: done }],
    ['hours is not tried', 7_200_000, [0], { kind: 'unavailable', tries: 0 }],
  ])('that waits for a place when another is told to wait %s', async (_, ms, times, ending) => {
    const { clock, calls, executor } = setUp([later('limit', ms), done], { serviceOf }, 1)
    const first = executor.execute(effect, signal(), false)
    const second = executor.execute({ ...effect, id: 'b:1.0' as EffectId }, signal(), false)
    expect(await clock.finish(second)).toMatchObject(ending)
    await clock.finish(first)
    expect(calls).toEqual(times)
  })

  test('is cancelled while it waits for a service that asked to be left alone', async () => {
    const { clock, calls, executor } = setUp([later('limit', 30_000), done], { serviceOf })
    const first = executor.execute(effect, signal(), false)
    await new Promise((resolve) => setImmediate(resolve))
    const end = new AbortController()
    clock.after(500, () => end.abort())
    const second = executor.execute({ ...effect, id: 'b:1.0' as EffectId }, end.signal, false)
    expect(await clock.finish(second)).toEqual({ kind: 'aborted' })
    expect(clock.elapsedMs).toBe(500)
    await clock.finish(first)
    expect(calls).toEqual([0, 30_750])
  })

  test('is tried while the failures of its service are not in a row', async () => {
    const down = Array(4).fill(later('down'))
    const answers = [...down, done, ...down, done]
    const { clock, calls, executor } = setUp(answers, { serviceOf, policy: { attemptsMax: 5 } })
    for (let i = 0; i < 2; i += 1) {
      const ending = await clock.finish(executor.execute(effect, signal(), false))
      expect(ending).toMatchObject({ result: done })
    }
    expect(calls).toHaveLength(10)
  })

  test('shares its places: no more than the limit run at once', async () => {
    const { clock, calls, executor } = setUp(['hang'], { serviceOf, policy: { attemptsMax: 1 } })
    const all = ['a', 'b', 'c'].map((id) =>
      executor.execute({ ...effect, id: `${id}:1.0` as EffectId }, signal(), false),
    )
    await clock.finish(Promise.all(all))
    expect(calls).toEqual([0, 0, 10_000])
  })

  test('is not even tried when the service failed five times in a row, until it answers', async () => {
    const { clock, calls, executor } = setUp([later('down')], {
      serviceOf,
      policy: { attemptsMax: 5 },
    })
    await clock.finish(executor.execute(effect, signal(), false))
    expect(calls).toHaveLength(5)
    const ending: Ending = await executor.execute(effect, signal(), false)
    expect(ending).toEqual({ kind: 'unavailable', reason: 'model is out', tries: 0 })
    expect(calls).toHaveLength(5)
    expect(await executor.probeAll(signal())).toBe(true)
    await clock.finish(executor.execute(effect, signal(), false))
    expect(calls).toHaveLength(10)
  })
})

describe('a handler that breaks its promises', () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  test.each<[string, unknown]>([
    ['nothing', null],
    ['a number that is none', { ok: true, value: Number.NaN }],
    ['a BigInt', { ok: true, value: 1n }],
    ['undefined within', { ok: true, value: { x: undefined } }],
    ['a circle', { ok: true, value: circular }],
  ])('by giving %s has failed, and nothing else has', async (_, answer) => {
    const { clock, executor } = setUp([answer as Attempt])
    const ending = await clock.finish(executor.execute(effect, signal(), false))
    expect(ending).toMatchObject(failed('handler_threw'))
  })

  test('by throwing while it is asked for its service has failed', async () => {
    const serviceOf = () => {
      throw new Error('which service?')
    }
    const { executor } = setUp([done], { serviceOf })
    expect(await executor.execute(effect, signal(), false)).toMatchObject(failed('handler_threw'))
  })

  test.each([Number.NaN, Infinity, -5, NAMED_WAIT_MS_MAX + 1, 1e300])(
    'by asking to wait %s ms has named no time, and is tried again as usual',
    async (ms) => {
      const answers = [later('limit', ms), done]
      const { clock, executor } = setUp(answers)
      expect(await clock.finish(executor.execute(effect, signal(), false))).toMatchObject({
        result: done,
      })
      expect(clock.elapsedMs).toBeLessThan(1_000)
    },
  )

  test('by asking to wait as long as anybody may is left alone until then', async () => {
    const answers = [later('limit', NAMED_WAIT_MS_MAX)]
    const { clock, executor } = setUp(answers, { serviceOf: () => 'model' })
    const ending = await clock.finish(executor.execute(effect, signal(), false))
    const untilMs = clock.nowMs() + NAMED_WAIT_MS_MAX
    expect(ending).toMatchObject({ kind: 'unavailable', untilMs })
  })

  test.each([
    [NAMED_WAIT_MS_MAX, 'unavailable'],
    [NAMED_WAIT_MS_MAX + 1, 'finished'],
  ])('whose service has a time stored that is %s ms ahead is %s', async (aheadMs, kind) => {
    const { clock, executor } = setUp([done], { serviceOf: () => 'model' })
    executor.close({ service: 'model', untilMs: clock.nowMs() + aheadMs })
    expect(await clock.finish(executor.execute(effect, signal(), false))).toMatchObject({ kind })
  })

  test('is quoted briefly', async () => {
    const { executor } = setUp([
      { ok: false, error: { code: 'x', message: 'm'.repeat(1e6), retry: 'never' } },
    ])
    const ending = await executor.execute(effect, signal(), false)
    expect(JSON.stringify(ending).length).toBeLessThan(5_000)
  })
})
