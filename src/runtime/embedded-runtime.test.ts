import { describe, expect, test, vi } from 'vitest'
import { obedient, openStage, THINK } from '../../test/drill/obedient-role.ts'
import { AGENT, RUN } from '../../test/drill/stage.ts'
import { EFFECT_FINISHED } from '../agents/role.ts'
import type { AgentId, EffectId, EventId, Json } from '../agents/values.ts'

const MINUTE_MS = 60_000

describe('runs', () => {
  const slow = { think: { run: () => new Promise<never>(() => {}) } }

  test('a paused run takes events in and handles them after resume', async () => {
    const { stage } = await openStage()
    await stage.runtime.pause(RUN)
    expect(await stage.deliver('do', { set: { x: 1 } })).toBe('accepted')
    await stage.runtime.idle()
    expect(stage.agent().data).toEqual({})
    await stage.runtime.resume(RUN)
    await stage.runtime.idle()
    expect(stage.agent().data).toEqual({ x: 1 })
  })

  test('a paused run records what was under way; a stopped one cancels it and does it again', async () => {
    const calls: string[] = []
    let finish = () => {}
    const { stage } = await openStage(obedient(), {
      handlers: {
        think: {
          run: async (_, { signal }) => {
            calls.push('run')
            await new Promise<void>((resolve) => {
              finish = resolve
              signal.addEventListener('abort', () => {
                calls.push('aborted')
                resolve()
              })
            })
            return { ok: true, value: null }
          },
        },
      },
    })
    await stage.deliver('do', THINK)
    await stage.runtime.stop(RUN)
    expect(calls).toEqual(['run', 'aborted'])
    await stage.runtime.resume(RUN)
    await stage.pass(10)
    await stage.runtime.pause(RUN)
    finish()
    await stage.pass(10)
    expect(stage.disk.contents.effects.size).toBe(0)
    await stage.runtime.resume(RUN)
    await stage.runtime.idle()
    expect(stage.agent().data).toEqual({ told: [EFFECT_FINISHED] })
    expect(calls.filter((call) => call === 'run')).toHaveLength(2)
  })

  test('a stopped run stays stopped over a restart', async () => {
    const { stage } = await openStage(obedient(), { handlers: slow })
    await stage.runtime.stop(RUN)
    await stage.close()
    await stage.open()
    await stage.deliver('do', { set: { x: 1 } })
    await stage.runtime.idle()
    expect(stage.agent().data).toEqual({})
    await stage.runtime.resume(RUN)
    await stage.runtime.idle()
    expect(stage.agent().data).toEqual({ x: 1 })
  })

  test.each(['pause', 'stop', 'resume'] as const)(
    '%s of an unknown run is an error',
    async (how) => {
      const { stage } = await openStage()
      await expect(stage.runtime[how]('nothing' as typeof RUN)).rejects.toThrow('no run nothing')
    },
  )

  test('creating what exists changes nothing; what cannot be created is an error', async () => {
    const { stage } = await openStage()
    await stage.deliver('do', { set: { x: 1 } })
    await stage.runtime.createRun(RUN, { other: true })
    await stage.runtime.createAgent({ id: AGENT, run: RUN, role: 'obedient' })
    expect(stage.agent().data).toEqual({ x: 1 })
    expect(stage.disk.contents.runs.get(RUN)?.config).toEqual({})
    const id = 'agent-2' as AgentId
    const create = (run: string, role: string) =>
      stage.runtime.createAgent({ id, run: run as typeof RUN, role })
    await expect(create('nothing', 'obedient')).rejects.toThrow('no run nothing')
    await expect(create(RUN, 'nothing')).rejects.toThrow('no role nothing')
    expect(await stage.deliver('do', null, 'nobody' as AgentId)).toBe('no_agent')
  })

  const OTHER = 'run-2' as typeof RUN
  const [FIRST, SECOND] = ['first', 'second'] as [AgentId, AgentId]
  const told = (id: string, payload: Json) => ({ id: id as EventId, type: 'do', payload })

  test('a run with its agents and what they are told is one commit', async () => {
    const { stage } = await openStage()
    const write = vi.spyOn(stage.disk, 'write')
    await stage.runtime.createRun(OTHER, { some: true }, [
      {
        id: FIRST,
        role: 'obedient',
        told: told('t1', { send: [{ to: SECOND, type: 'do', payload: { set: { y: 2 } } }] }),
      },
      { id: SECOND, role: 'obedient', told: told('t2', { set: { x: 1 } }) },
    ])
    expect(write).toHaveBeenCalledTimes(1)
    expect(stage.agent(SECOND)).toMatchObject({ run: OTHER, data: { x: 1, y: 2 } })
    // Again, as by who has not heard the answer: it is there.
    await stage.runtime.createRun(OTHER, {}, [
      { id: FIRST, role: 'obedient', told: told('t3', { set: { x: 9 } }) },
    ])
    expect(await stage.deliver('do', { set: { z: 3 } }, FIRST)).toBe('accepted')
    expect(stage.agent(FIRST).data).toEqual({ z: 3 })
    expect(stage.disk.contents.runs.get(OTHER)?.config).toEqual({ some: true })
  })

  test.each([
    ['a role that nobody has', { id: SECOND, role: 'nothing' }, 'no role nothing'],
    [
      'an event of ours',
      { id: SECOND, role: 'obedient', told: { ...told('t2', null), type: EFFECT_FINISHED } },
      "is the runtime's",
    ],
    ['an agent of another run', { id: AGENT, role: 'obedient' }, 'is of another run'],
  ])('nothing of a run is created with %s', async (_, agent, message) => {
    const { stage } = await openStage()
    const start = () => stage.runtime.createRun(OTHER, {}, [{ id: FIRST, role: 'obedient' }, agent])
    await expect(start()).rejects.toThrow(message)
    expect(stage.disk.contents.runs.has(OTHER)).toBe(false)
    expect(stage.disk.contents.agents.has(FIRST)).toBe(false)
    expect(stage.runtime.health().state).toBe('well')
  })

  test('an agent that is told something with its birth is told it once', async () => {
    const { stage } = await openStage()
    const create = (x: number) =>
      stage.runtime.createAgent({
        id: FIRST,
        run: RUN,
        role: 'obedient',
        told: told('t1', { set: { x } }),
      })
    expect(await create(1)).toBe('created')
    expect(await create(2)).toBe('exists')
    expect(stage.agent(FIRST).data).toEqual({ x: 1 })
  })
})

describe('work that is cancelled', () => {
  /** A stage whose handler ends so long after its abort, and a record of when each run began and ended. */
  async function openSlow(endsAfterMs: number) {
    const record: string[] = []
    let count = 0
    const say = (what: string) => record.push(`${stage.clock.elapsedMs} ${what}`)
    const { stage } = await openStage(obedient(), {
      handlers: {
        think: {
          run: async (_, { signal }) => {
            count += 1
            const run = count
            say(`run ${run} begins`)
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            await stage.clock.delay(endsAfterMs)
            say(`run ${run} ends`)
            return { ok: true, value: null }
          },
        },
      },
    })
    await stage.deliver('do', THINK)
    await vi.waitUntil(() => count === 1)
    return { stage, record }
  }

  test('has ended before the effect runs again: stop and resume make no two at once', async () => {
    const { stage, record } = await openSlow(2_000)
    await stage.runtime.stop(RUN)
    await stage.runtime.resume(RUN)
    await stage.pass(1_000)
    await stage.runtime.stop(RUN)
    await stage.runtime.resume(RUN)
    await stage.pass(3_000)
    expect(record).toEqual(['0 run 1 begins', '2000 run 1 ends', '2000 run 2 begins'])
  })

  test('and never ends is waited for five seconds', async () => {
    const { stage, record } = await openSlow(1e9)
    await stage.runtime.stop(RUN)
    await stage.runtime.resume(RUN)
    await stage.pass(4_999)
    expect(record).toEqual(['0 run 1 begins'])
    await stage.pass(1)
    expect(record).toEqual(['0 run 1 begins', '5000 run 2 begins'])
  })

  test('of a run that stays stopped is not begun again', async () => {
    const { stage, record } = await openSlow(2_000)
    await stage.runtime.stop(RUN)
    await stage.pass(10_000)
    expect(record).toEqual(['0 run 1 begins', '2000 run 1 ends'])
  })

  test.each([
    [2_000, 2_000],
    [1e9, 5_000],
  ])('and ends after %i ms is waited for by close for %i ms', async (endsAfterMs, closedMs) => {
    const { stage, record } = await openSlow(endsAfterMs)
    await stage.close()
    expect(stage.clock.elapsedMs).toBe(closedMs)
    expect(record.filter((line) => line.includes('begins'))).toHaveLength(1)
  })
})

describe('a restart', () => {
  test('asks whether an effect was carried out already, before it is carried out again', async () => {
    const asked: string[] = []
    const { stage } = await openStage(obedient(), {
      handlers: {
        think: {
          recognise: async (effect) => {
            asked.push(effect.id)
            return { ok: true, value: 'recognised' }
          },
          run: () => new Promise<never>(() => {}),
        },
      },
    })
    await stage.deliver('do', THINK)
    expect(asked).toEqual([])
    await stage.close()
    await stage.open()
    await stage.pass(10)
    expect(asked).toHaveLength(1)
    expect(stage.lastRow()?.body.payload).toMatchObject({ result: { value: 'recognised' } })
  })

  test('does not start the effects of a run that was stopped', async () => {
    let runs = 0
    const run = () => {
      runs += 1
      return new Promise<never>(() => {})
    }
    const { stage } = await openStage(obedient(), { handlers: { think: { run } } })
    await stage.deliver('do', THINK)
    await stage.runtime.stop(RUN)
    await stage.close()
    await stage.open()
    await stage.pass(1_000)
    expect(runs).toBe(1)
  })

  test('and the earliest of several timers is not late', async () => {
    const { stage } = await openStage()
    const nowMs = stage.clock.nowMs()
    await stage.deliver('do', { timers: { early: nowMs + 1_000 } })
    await stage.deliver('do', { timers: { late: nowMs + 60_000 } })
    await stage.pass(2_000)
    expect(stage.agent().data).toEqual({ told: ['timer_fired'] })
  })

  test('nobody waits for a runtime that is closed', async () => {
    const { stage } = await openStage(obedient(), {
      handlers: { think: { run: () => new Promise<never>(() => {}) } },
    })
    await stage.deliver('do', THINK)
    const idle = stage.runtime.idle()
    await stage.close()
    await idle
    await stage.runtime.idle()
  })
})

describe('payloads from outside', () => {
  const ofBytes = (bytes: number) => 'x'.repeat(bytes - 2)

  test('are bounded: at the limit they are taken, one byte more is refused', async () => {
    const { stage } = await openStage()
    await stage.deliver('do', { effects: [{ kind: 'ask_human', input: null }] })
    const [question] = stage.disk.contents.effects.keys()
    const answer = (bytes: number) => stage.runtime.answer(question as EffectId, ofBytes(bytes))
    const refusal =
      'the payload has 1048577 bytes, and at most 1048576 fit a row: put it into a blob'
    await expect(stage.deliver('note', ofBytes(1_048_577))).rejects.toThrow(refusal)
    await expect(answer(1_048_577)).rejects.toThrow(refusal)
    expect(await stage.deliver('note', ofBytes(1_048_576))).toBe('accepted')
    expect(await answer(1_048_576)).toBe('accepted')
  })
})

describe('answers from outside', () => {
  test('come days later, over restarts, and the first counts', async () => {
    const { stage } = await openStage()
    await stage.deliver('do', { effects: [{ kind: 'ask_human', input: { question: 'Which?' } }] })
    await stage.pass(3 * 24 * 60 * MINUTE_MS)
    await stage.close()
    await stage.open()
    const [question] = stage.disk.contents.effects.keys()
    expect(await stage.runtime.answer(question as EffectId, 'this one')).toBe('accepted')
    expect(await stage.runtime.answer(question as EffectId, 'that one')).toBe('not_open')
    expect(stage.lastRow()).toMatchObject({
      eventId: question,
      body: { payload: { result: { ok: true, value: 'this one' } } },
    })
  })

  test('are refused for an effect that nobody outside is asked for', async () => {
    const { stage } = await openStage(obedient(), {
      handlers: { think: { run: () => new Promise<never>(() => {}) } },
    })
    await stage.deliver('do', THINK)
    const [effect] = stage.disk.contents.effects.keys()
    expect(await stage.runtime.answer(effect as EffectId, 'me')).toBe('not_open')
    expect(await stage.runtime.answer('x:1.0' as EffectId, 'me')).toBe('not_open')
  })

  test('an effect that is cancelled is ended when that is durable, not before', async () => {
    const aborted: boolean[] = []
    const { stage } = await openStage(obedient(), {
      handlers: {
        think: {
          run: (effect, { signal }) =>
            new Promise<never>(() => {
              signal.addEventListener('abort', () =>
                aborted.push(stage.lastRow()?.body.cancelled?.includes(effect.id) ?? false),
              )
            }),
        },
      },
    })
    await stage.deliver('do', THINK)
    const [effect] = stage.disk.contents.effects.keys()
    await stage.deliver('do', { cancel: [effect as string] })
    expect(aborted).toEqual([true])
    await stage.runtime.idle()
  })

  test('a cancelled question is closed', async () => {
    const { stage } = await openStage()
    await stage.deliver('do', { effects: [{ kind: 'ask_human', input: null }] })
    const [question] = stage.disk.contents.effects.keys()
    await stage.deliver('do', { cancel: [question as string] })
    expect(await stage.runtime.answer(question as EffectId, 'late')).toBe('not_open')
    expect(stage.lastRow()?.body.cancelled).toEqual([question])
  })
})
