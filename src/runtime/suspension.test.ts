import { describe, expect, test } from 'vitest'
import { obedient, openStage, THINK } from '../../test/drill/obedient-role.ts'
import { RUN } from '../../test/drill/stage.ts'
import { EFFECT_FINISHED, OUTAGE } from '../agents/role.ts'
import type { Json } from '../agents/values.ts'
import { coderD } from '../machines/tables/coder-d.ts'
import type { EffectHandler } from './effect-handler.ts'

const MINUTE_MS = 60_000
const toSetup: Json = { move: { event: 'story_assigned', to: 'SETUP' } }

describe('suspension', () => {
  test('an outage suspends, mail waits, and the return of the service restores', async () => {
    const { stage, carriedOut } = await openStage()
    await stage.deliver('do', toSetup)
    stage.serviceUp = false
    await stage.deliver('do', THINK)
    await stage.pass(1_000)
    expect(stage.agent()).toMatchObject({ state: 'SUSPEND', suspendedFrom: 'SETUP' })
    await stage.deliver('do', { set: { later: true } })
    await stage.pass(MINUTE_MS)
    const outage = { reason: expect.any(String), tries: expect.any(Number) }
    expect(stage.agent().data).toEqual({ [OUTAGE]: outage })
    stage.serviceUp = true
    await stage.pass(30_000)
    expect(stage.agent()).toMatchObject({
      state: 'SETUP',
      suspendedFrom: null,
      timers: {},
      data: { later: true, told: [EFFECT_FINISHED] },
    })
    expect(carriedOut).toHaveLength(1)
    expect(stage.lastRow()?.eventId).toBe(carriedOut[0])
    expect(stage.agent().data).not.toHaveProperty(OUTAGE)
  })

  test('what a role calls urgent is handled in SUSPEND, before the services are back', async () => {
    const { stage } = await openStage({ ...obedient(), urgent: ['do'] })
    stage.serviceUp = false
    await stage.deliver('do', THINK)
    await stage.pass(1_000)
    expect(stage.agent().state).toBe('SUSPEND')
    await stage.deliver('do', { set: { now: true } })
    expect(stage.agent()).toMatchObject({ state: 'SUSPEND', data: { now: true } })
  })

  test('ends in ERROR after 15 minutes, and the behaviour is told', async () => {
    const { stage } = await openStage()
    stage.serviceUp = false
    await stage.deliver('do', THINK)
    await stage.pass(14 * MINUTE_MS)
    expect(stage.agent().state).toBe('SUSPEND')
    await stage.pass(2 * MINUTE_MS)
    expect(stage.agent()).toMatchObject({
      state: 'ERROR',
      data: { told: ['suspension_timed_out'] },
    })
    expect(stage.disk.contents.effects.size).toBe(0)
  })

  test.each([
    [true, 'SUSPEND'],
    [false, 'ERROR'],
  ])('a reset time that the provider names is waited for: %s', async (waitForReset, state) => {
    const { stage } = await openStage(obedient(), {
      suspension: { waitForReset },
      handlers: {
        think: {
          serviceOf: () => 'model',
          run: async () => ({
            ok: false,
            error: { code: 'limit', message: '', retry: 'later', retryAfterMs: 120 * MINUTE_MS },
          }),
        },
      },
    })
    stage.serviceUp = false
    await stage.deliver('do', THINK)
    await stage.pass(MINUTE_MS)
    // Who looks can say until when.
    expect(stage.agent().data).toMatchObject({ [OUTAGE]: { untilMs: expect.any(Number) } })
    await stage.pass(118 * MINUTE_MS)
    expect(stage.agent().state).toBe(state)
    await stage.pass(20 * MINUTE_MS)
    expect(stage.agent().state).toBe('ERROR')
  })

  test('goes on over a restart', async () => {
    const { stage } = await openStage()
    stage.serviceUp = false
    await stage.deliver('do', THINK)
    await stage.pass(1_000)
    await stage.close()
    await stage.open()
    await stage.pass(MINUTE_MS)
    expect(stage.agent().state).toBe('SUSPEND')
    stage.serviceUp = true
    await stage.pass(MINUTE_MS)
    expect(stage.agent()).toMatchObject({ state: 'WAITING', data: { told: [EFFECT_FINISHED] } })
  })

  test('whose time ran out while nothing ran is not failed when the service is back', async () => {
    const { stage } = await openStage()
    stage.serviceUp = false
    await stage.deliver('do', THINK)
    await stage.pass(1_000)
    await stage.close()
    await stage.pass(60 * MINUTE_MS)
    stage.serviceUp = true
    await stage.open()
    await stage.pass(1_000)
    expect(stage.agent()).toMatchObject({ state: 'WAITING', data: { told: [EFFECT_FINISHED] } })
  })

  test('is not ended before the time that the provider named, whatever a probe says', async () => {
    let calls = 0
    const { stage } = await openStage(obedient(), {
      handlers: {
        think: {
          serviceOf: () => 'model',
          run: async () => {
            calls += 1
            if (calls > 1) return { ok: true, value: null }
            const error = { code: 'limit', message: '', retry: 'later' as const }
            return { ok: false, error: { ...error, retryAfterMs: 300 * MINUTE_MS + 0.5 } }
          },
        },
      },
    })
    await stage.deliver('do', THINK)
    await stage.pass(299 * MINUTE_MS)
    expect(calls).toBe(1)
    expect(stage.agent().state).toBe('SUSPEND')
    await stage.pass(2 * MINUTE_MS)
    expect(calls).toBe(2)
    expect(stage.agent().state).toBe('WAITING')
  })

  test.each([
    ['5 hours', 300 * MINUTE_MS, 2 * MINUTE_MS],
    ['50 seconds', 50_000, 5_000],
  ])('holds to a time of %s that the provider named to an earlier process', async (_, ms, atMs) => {
    const calls: number[] = []
    const { stage } = await openStage(obedient(), {
      handlers: {
        think: {
          serviceOf: () => 'model',
          run: async () => {
            calls.push(stage.clock.elapsedMs)
            if (calls.length > 1) return { ok: true, value: null }
            const error = { code: 'limit', message: '', retry: 'later' as const }
            return { ok: false, error: { ...error, retryAfterMs: ms } }
          },
        },
      },
    })
    await stage.deliver('do', THINK)
    await stage.pass(atMs)
    for (let i = 0; i < 2; i += 1) {
      await stage.close()
      await stage.open()
      await stage.pass(5_000)
    }
    expect(calls).toEqual([0])
    await stage.pass(ms)
    expect(calls).toHaveLength(2)
    expect(calls[1]).toBeGreaterThanOrEqual(ms)
    expect(stage.agent()).toMatchObject({ state: 'WAITING', data: { told: [EFFECT_FINISHED] } })
  })

  test('of a service that answers probes and nothing else ends in ERROR after 15 minutes', async () => {
    const { stage } = await openStage(obedient(), {
      handlers: {
        think: {
          policy: { attemptsMax: 1 },
          serviceOf: () => 'model',
          run: async () => ({
            ok: false,
            error: { code: 'overloaded', message: '', retry: 'later' },
          }),
        },
      },
    })
    await stage.deliver('do', THINK)
    await stage.pass(14 * MINUTE_MS)
    expect(stage.agent().state).not.toBe('ERROR')
    await stage.pass(2 * MINUTE_MS)
    expect(stage.agent().state).toBe('ERROR')
  })

  /** An effect that always blames a service that it does not need. */
  const blaming: EffectHandler = {
    policy: { attemptsMax: 1 },
    async run() {
      const error = { code: 'not_written', message: '', retry: 'later' as const }
      return { ok: false, error: { ...error, service: 'model' } }
    },
  }

  test('for a service that is blamed, and answers, ends with the failure of what blames it', async () => {
    const { stage } = await openStage(obedient(), { handlers: { think: blaming } })
    await stage.deliver('do', THINK)
    await stage.pass(7 * MINUTE_MS)
    await stage.close()
    await stage.open()
    await stage.pass(7 * MINUTE_MS)
    expect(stage.agent().data).not.toHaveProperty('told')
    await stage.pass(2 * MINUTE_MS)
    expect(stage.agent()).toMatchObject({ state: 'WAITING', data: { told: [EFFECT_FINISHED] } })
    const result = { ok: false, error: { code: 'not_written', message: '' } }
    expect(stage.lastRow()?.body.payload).toMatchObject({ result })
    expect(stage.disk.contents.effects.size).toBe(0)
  })

  test('for a service that is blamed, and is out, ends in ERROR after 15 minutes', async () => {
    const { stage } = await openStage(obedient(), { handlers: { think: blaming } })
    stage.serviceUp = false
    await stage.deliver('do', THINK)
    await stage.pass(14 * MINUTE_MS)
    expect(stage.agent().state).toBe('SUSPEND')
    await stage.pass(2 * MINUTE_MS)
    expect(stage.agent()).toMatchObject({
      state: 'ERROR',
      data: { told: ['suspension_timed_out'] },
    })
  })

  test('waits with its run: a pause neither fails it nor fills its inbox', async () => {
    const { stage } = await openStage()
    stage.serviceUp = false
    await stage.deliver('do', THINK)
    await stage.pass(1_000)
    await stage.runtime.pause(RUN)
    stage.serviceUp = true
    await stage.pass(60 * MINUTE_MS)
    expect(stage.disk.contents.inbox.size).toBe(0)
    await stage.runtime.resume(RUN)
    await stage.pass(MINUTE_MS)
    expect(stage.agent()).toMatchObject({ state: 'WAITING', data: { told: [EFFECT_FINISHED] } })
  })

  test('of a state that cannot be suspended lets only the effect wait', async () => {
    const { stage, carriedOut } = await openStage(obedient({ machine: coderD }))
    await stage.deliver('do', {
      move: { event: 'failed_unrecoverably', to: 'ERROR' },
      ...(THINK as object),
    })
    await stage.pass(1_000)
    expect(carriedOut).toHaveLength(1)
    stage.serviceUp = false
    await stage.deliver('do', THINK)
    await stage.pass(20 * MINUTE_MS)
    expect(stage.agent().state).toBe('ERROR')
    stage.serviceUp = true
    await stage.pass(MINUTE_MS)
    expect(carriedOut).toHaveLength(2)
  })

  test('keeps the origin of the state that was suspended', async () => {
    const { stage } = await openStage()
    for (const [event, to] of [
      ['story_assigned', 'SETUP'],
      ['workspace_ready', 'PLANNING'],
      ['question_asked', 'QUESTION'],
    ]) {
      await stage.deliver('do', { move: { event, to } as Json })
    }
    stage.serviceUp = false
    await stage.deliver('do', THINK)
    await stage.pass(1_000)
    expect(stage.agent()).toMatchObject({ state: 'SUSPEND', origin: 'PLANNING' })
    stage.serviceUp = true
    await stage.pass(MINUTE_MS)
    await stage.deliver('do', { move: { event: 'question_answered', to: 'PLANNING' } })
    expect(stage.agent()).toMatchObject({ state: 'PLANNING', origin: null })
  })
})
