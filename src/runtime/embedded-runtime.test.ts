import { describe, expect, test } from 'vitest'
import { obedient, openStage, THINK } from '../../test/drill/obedient-role.ts'
import { AGENT, RUN, Stage } from '../../test/drill/stage.ts'
import { openMemoryJournal } from '../../test/simulation/memory-journal.ts'
import { EFFECT_FINISHED } from '../agents/role.ts'
import type { AgentId, EffectId } from '../agents/values.ts'
import { JournalError } from './journal.ts'

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
            signal.addEventListener('abort', () => calls.push('aborted'))
            await new Promise<void>((resolve) => {
              finish = resolve
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
    await stage.runtime.close()
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
    await stage.runtime.close()
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
    await stage.runtime.close()
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
    await stage.runtime.close()
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
    const refusal = 'the payload has 65537 bytes, and at most 65536 fit a row: put it into a blob'
    await expect(stage.deliver('note', ofBytes(65_537))).rejects.toThrow(refusal)
    await expect(answer(65_537)).rejects.toThrow(refusal)
    expect(await stage.deliver('note', ofBytes(65_536))).toBe('accepted')
    expect(await answer(65_536)).toBe('accepted')
  })
})

describe('answers from outside', () => {
  test('come days later, over restarts, and the first counts', async () => {
    const { stage } = await openStage()
    await stage.deliver('do', { effects: [{ kind: 'ask_human', input: { question: 'Which?' } }] })
    await stage.pass(3 * 24 * 60 * MINUTE_MS)
    await stage.runtime.close()
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

describe('a journal that fails', () => {
  /** A stage whose journal can be made to fail. */
  async function openFailing() {
    const trouble: { fault?: 'full' | 'damaged' } = {}
    const stage: Stage = new Stage(obedient())
    const plain = openMemoryJournal(stage.disk)
    const journal = {
      ...plain,
      commit: async (batch: Parameters<typeof plain.commit>[0]) => {
        if (trouble.fault) throw new JournalError(trouble.fault, `it is ${trouble.fault}`)
        return plain.commit(batch)
      },
    }
    const failing: Stage = new Stage(obedient(), { journal })
    Object.assign(failing, { disk: stage.disk })
    await failing.open()
    return { stage: failing, trouble }
  }

  test('for a while is waited for: nothing is acknowledged until it is durable', async () => {
    const { stage, trouble } = await openFailing()
    trouble.fault = 'full'
    let acknowledged = false
    void stage.deliver('do', { set: { x: 1 } }).then(() => (acknowledged = true))
    await stage.pass(MINUTE_MS)
    expect(acknowledged).toBe(false)
    expect(stage.runtime.health()).toEqual({ state: 'waiting_for_journal', error: 'it is full' })
    delete trouble.fault
    await stage.pass(10_000)
    expect(acknowledged).toBe(true)
    expect(stage.runtime.health()).toEqual({ state: 'well' })
    expect(stage.agent().data).toEqual({ x: 1 })
  })

  test('for good ends the runtime: what is not durable is refused, what was stays', async () => {
    const { stage, trouble } = await openFailing()
    await stage.deliver('do', { set: { x: 1 } })
    trouble.fault = 'damaged'
    await expect(stage.deliver('do', { set: { x: 2 } })).rejects.toThrow('it is damaged')
    expect(stage.runtime.health()).toEqual({ state: 'failed', error: 'it is damaged' })
    await expect(stage.deliver('do', { set: { x: 3 } })).rejects.toThrow('the runtime is closed')
    expect(stage.agent().data).toEqual({ x: 1 })
  })
})
