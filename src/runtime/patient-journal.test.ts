import { describe, expect, test } from 'vitest'
import { obedient, THINK } from '../../test/drill/obedient-role.ts'
import { RUN, Stage } from '../../test/drill/stage.ts'
import { openMemoryJournal } from '../../test/simulation/memory-journal.ts'
import type { AgentId } from '../agents/values.ts'
import type { RuntimeParts } from './embedded-runtime.ts'
import { type Journal, JournalError } from './journal.ts'

const MINUTE_MS = 60_000

describe('a journal that fails', () => {
  /** A stage whose journal can be made to fail, in all that it is asked or in one thing. */
  async function openFailing(handlers: RuntimeParts['handlers'] = {}) {
    const trouble: { fault?: 'full' | 'busy' | 'damaged'; in?: keyof Journal } = {}
    const stage: Stage = new Stage(obedient())
    const journal = new Proxy(openMemoryJournal(stage.disk), {
      get:
        (plain, name: keyof Journal) =>
        async (...args: never[]) => {
          const { fault } = trouble
          if (fault && (trouble.in ?? name) === name)
            throw new JournalError(fault, `it is ${fault}`)
          return (plain[name] as (...args: never[]) => unknown)(...args)
        },
    })
    const failing: Stage = new Stage(obedient(), { journal, handlers })
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

  test.each<keyof Journal>(['seen', 'loadAgents', 'dueTimers', 'nextDueMs'])(
    'for a while in what it is asked (%s) is waited for too',
    async (name) => {
      const { stage, trouble } = await openFailing()
      Object.assign(trouble, { fault: 'busy', in: name })
      const other = 'agent-2' as AgentId
      const creating = stage.runtime.createAgent({ id: other, run: RUN, role: 'obedient' })
      const dueMs = stage.clock.nowMs() + 1_000
      const telling = stage.deliver('do', { timers: { soon: dueMs } })
      await stage.pass(MINUTE_MS)
      expect(stage.runtime.health()).toEqual({ state: 'waiting_for_journal', error: 'it is busy' })
      delete trouble.fault
      await stage.pass(10_000)
      await Promise.all([creating, telling])
      await stage.pass(10_000)
      expect(stage.runtime.health()).toEqual({ state: 'well' })
      expect(stage.agent().data).toEqual({ told: ['timer_fired'] })
      expect(stage.agent(other).state).toBe('WAITING')
    },
  )

  test('at the start is waited for half a minute, and then said to whoever starts it', async () => {
    const { stage, trouble } = await openFailing()
    await stage.close()
    trouble.fault = 'busy'
    let refusal: Error | undefined
    void stage.open().catch((error) => {
      refusal = error
    })
    await stage.pass(29_000)
    expect(refusal).toBeUndefined()
    await stage.pass(10_000)
    expect(refusal?.message).toBe('it is busy')
    const again = stage.open()
    await stage.pass(1_000)
    delete trouble.fault
    await stage.pass(10_000)
    await again
  })

  test('for good ends the runtime: what is not durable is refused, what was stays', async () => {
    const { stage, trouble } = await openFailing()
    await stage.deliver('do', { set: { x: 1 } })
    trouble.fault = 'damaged'
    await expect(stage.deliver('do', { set: { x: 2 } })).rejects.toThrow('it is damaged')
    expect(stage.runtime.health()).toEqual({ state: 'failed', error: 'it is damaged' })
    expect(stage.agent().data).toEqual({ x: 1 })
  })

  test('for good is what everybody hears who comes later, also when the runtime is closed', async () => {
    const { stage, trouble } = await openFailing()
    trouble.fault = 'damaged'
    await expect(stage.deliver('do')).rejects.toThrow('it is damaged')
    await expect(stage.deliver('do')).rejects.toThrow('it is damaged')
    await stage.runtime.close()
    await expect(stage.deliver('do')).rejects.toThrow('it is damaged')
  })

  test('for good also ends the work that was just to be cancelled', async () => {
    let aborted = false
    const { stage, trouble } = await openFailing({
      think: {
        run: (_, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              aborted = true
              resolve({ ok: true, value: null })
            })
          }),
      },
    })
    await stage.deliver('do', THINK)
    const [effect] = stage.disk.contents.effects.keys()
    trouble.fault = 'damaged'
    trouble.in = 'commit'
    await expect(stage.deliver('do', { cancel: [effect as string] })).rejects.toThrow('damaged')
    expect(aborted).toBe(true)
    await stage.runtime.close()
  })
})
