import { describe, expect, test } from 'vitest'
import { obedient, openStage } from '../../test/drill/obedient-role.ts'
import { AGENT, RUN, Stage } from '../../test/drill/stage.ts'
import type { AgentId, EffectId, Json } from '../agents/values.ts'
import { architectI } from '../machines/tables/architect-i.ts'
import { coderD } from '../machines/tables/coder-d.ts'

const MINUTE_MS = 60_000

describe('supervision', () => {
  test('an event whose handling throws is set aside after three tries and blocks nobody', async () => {
    const { stage } = await openStage()
    await stage.deliver('throw')
    await stage.deliver('do', { set: { next: 1 } })
    await stage.runtime.idle()
    expect(stage.rows()).toEqual(['born born', 'set_aside throw', 'stayed do'])
    expect(stage.agent()).toMatchObject({ state: 'WAITING', data: { next: 1 } })
  })

  test('a timer whose event is set aside is over', async () => {
    const { stage } = await openStage(
      obedient({
        handle: (_, { type, payload }) => {
          if (type === 'timer_fired') throw new Error('it threw')
          return payload as never
        },
      }),
    )
    await stage.deliver('do', { timers: { soon: stage.clock.nowMs() + 10, later: 9e15 } })
    await stage.pass(1_000)
    expect(stage.rows().at(-1)).toBe('set_aside timer_fired')
    expect(Object.keys(stage.agent().timers)).toEqual(['later'])
    expect([...stage.disk.contents.timers.values()].map(({ name }) => name)).toEqual(['later'])
  })

  test.each<[string, Json]>([
    ['nothing', null],
    ['effects that are no list', { effects: 5 }],
    ['a timer at half a millisecond', { timers: { x: 1.5 } }],
    ['a timer of the runtime', { timers: { $suspension: 1 } }],
    ['a message of the runtime', { send: [{ to: AGENT, type: 'revived', payload: null }] }],
    ['data that is not JSON', { set: { x: undefined } } as unknown as Json],
  ])('a decision that is %s is set aside, and the runtime goes on', async (_, decision) => {
    const broken = await openStage(obedient({ handle: () => decision as never }))
    await broken.stage.deliver('any')
    await broken.stage.runtime.idle()
    expect(broken.stage.rows()).toEqual(['born born', 'set_aside any'])
    expect(broken.stage.runtime.health()).toEqual({ state: 'well' })
  })

  test.each([
    'effect_finished',
    'timer_fired',
    'service_unavailable',
    'service_restored',
    'revived',
  ])('nobody outside can send %s', async (type) => {
    const { stage } = await openStage()
    await expect(stage.deliver(type)).rejects.toThrow(`the event type ${type} is the runtime's`)
    expect(stage.rows()).toEqual(['born born'])
  })

  test("an agent cannot cancel another's effects", async () => {
    const { stage } = await openStage()
    const other = 'agent-2' as AgentId
    await stage.runtime.createAgent({ id: other, run: RUN, role: 'obedient' })
    await stage.deliver('do', { effects: [{ kind: 'ask_human', input: null }] })
    const [question] = stage.disk.contents.effects.keys()
    await stage.deliver('do', { cancel: [question as string] }, other)
    expect(await stage.runtime.answer(question as EffectId, 'yes')).toBe('accepted')
  })

  test('an agent that moved on from its end is not cleaned away', async () => {
    const { stage } = await openStage(obedient({ machine: architectI, recycles: true }), {
      handlers: {
        clean_up: {
          run: () =>
            new Promise((resolve) =>
              stage.clock.after(5_000, () => resolve({ ok: true, value: null })),
            ),
        },
      },
    })
    await stage.deliver('do', { move: { event: 'channel_closed', to: 'ERROR' } })
    await stage.deliver('do', { move: { event: 'recovered', to: 'WAITING' }, set: { work: 1 } })
    await stage.pass(10_000)
    expect(stage.agent()).toMatchObject({ state: 'WAITING', generation: 1, data: { work: 1 } })
  })

  test('a move outside the table halts the agent, until it is revived', async () => {
    const { stage } = await openStage()
    await stage.deliver('do', { move: { event: 'merged', to: 'DONE' } })
    await stage.deliver('do', { set: { after: true } })
    await stage.runtime.idle()
    expect(stage.agent()).toMatchObject({ halted: true, state: 'WAITING', data: {} })
    expect(stage.lastRow()?.body.error).toBe('coder@F has no row WAITING merged DONE')
    await stage.runtime.revive(AGENT)
    await stage.runtime.idle()
    expect(stage.agent()).toMatchObject({ halted: false, generation: 2, data: { after: true } })
  })

  test('a move to the right state by the wrong event is outside the table too', async () => {
    const { stage } = await openStage()
    await stage.deliver('do', { move: { event: 'workspace_ready', to: 'SETUP' } })
    await stage.runtime.idle()
    expect(stage.agent().halted).toBe(true)
  })

  const fail: Json = { move: { event: 'failed_unrecoverably', to: 'ERROR' } }

  test('the end of an agent that recycles is followed by a clean-up and a fresh generation', async () => {
    const { stage } = await openStage(obedient({ machine: coderD, recycles: true }))
    await stage.deliver('do', { ...(fail as object), set: { old: 1 }, timers: { x: 9e15 } })
    await stage.pass(1_000)
    expect(stage.rows()).toEqual(['born born', 'WAITING → ERROR', 'born effect_finished'])
    expect(stage.agent()).toMatchObject({ state: 'WAITING', generation: 2, data: {}, timers: {} })
    expect(stage.disk.contents.timers.size).toBe(0)
  })

  test('restarts after failures are limited: the fifth is, the sixth within the window is not', async () => {
    const { stage } = await openStage(obedient({ machine: coderD, recycles: true }))
    for (let i = 0; i < 5; i += 1) {
      await stage.deliver('do', fail)
      await stage.pass(1_000)
      expect(stage.agent()).toMatchObject({ halted: false, generation: i + 2 })
    }
    await stage.deliver('do', fail)
    await stage.pass(1_000)
    expect(stage.agent()).toMatchObject({ halted: true, generation: 6 })
    expect(stage.lastRow()?.body.error).toBe('5 restarts within 600 s')
  })

  test('restarts that lie further back do not count', async () => {
    const { stage } = await openStage(obedient({ machine: coderD, recycles: true }))
    for (let i = 0; i < 8; i += 1) {
      await stage.deliver('do', fail)
      await stage.pass(3 * MINUTE_MS)
    }
    expect(stage.agent()).toMatchObject({ halted: false, generation: 9 })
  })

  test('a clean-up that fails for good halts the agent', async () => {
    const refused = { code: 'refused', message: '', retry: 'never' } as const
    const handlers = { clean_up: { run: async () => ({ ok: false, error: refused }) as const } }
    const { stage } = await openStage(obedient({ machine: coderD, recycles: true }), { handlers })
    await stage.deliver('do', fail)
    await stage.pass(1_000)
    expect(stage.agent()).toMatchObject({ halted: true, state: 'ERROR' })
  })

  test('an outcome of an earlier generation is ignored', async () => {
    const { stage } = await openStage(obedient({ machine: coderD, recycles: true }))
    const ask = { effects: [{ kind: 'ask_human', input: null }] }
    await stage.deliver('do', ask)
    const [question] = stage.disk.contents.effects.keys()
    await stage.deliver('do', fail)
    await stage.pass(1_000)
    expect(await stage.runtime.answer(question as EffectId, 'late')).toBe('not_open')
    expect(stage.agent()).toMatchObject({ generation: 2, data: {} })
  })

  test('a message to nobody comes back to its sender', async () => {
    const { stage } = await openStage()
    await stage.deliver('do', { send: [{ to: 'nobody', type: 'hello', payload: null }] })
    await stage.runtime.idle()
    expect(stage.rows().at(-1)).toBe('stayed undeliverable')
    expect(stage.runtime.health()).toEqual({ state: 'well' })
  })

  test('an agent whose role this version does not have keeps its mail', async () => {
    const { stage } = await openStage()
    await stage.close()
    const other = new Stage(obedient({ name: 'other' }))
    Object.assign(other, { disk: stage.disk, clock: stage.clock })
    await other.open()
    await other.deliver('do', { set: { x: 1 } })
    await other.runtime.idle()
    expect(stage.agent().data).toEqual({})
    expect(stage.disk.contents.inbox.size).toBe(1)
  })
})
