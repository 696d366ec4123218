import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { AgentView, Role } from '../../src/agents/role.ts'
import { EFFECT_FINISHED, TIMER_FIRED } from '../../src/agents/role.ts'
import type { AgentId, EffectId, EventId, Json, RunId } from '../../src/agents/values.ts'
import { coderF } from '../../src/machines/tables/coder-f.ts'
import type { EffectHandler } from '../../src/runtime/effect-handler.ts'
import type { JournalReader } from '../../src/runtime/journal.ts'
import type { StoredRow } from '../../src/runtime/records.ts'
import { replay } from '../../src/runtime/replay.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { Random } from '../drill/random.ts'

/** Where a runtime can be started, killed and started again on the same state. */
export interface RuntimePlace {
  start(role: Role, handlers: Readonly<Record<string, EffectHandler>>): Promise<Runtime>
  /** Ends it as a kill would: at once, with nothing said. */
  kill(): Promise<void>
  read<T>(look: (journal: JournalReader) => Promise<T>): Promise<T>
  dispose(): Promise<void>
}

const RUN = 'run-1' as RunId
const COUNTER = 'counter-1' as AgentId
const SECOND_MS = 1_000

/** Adds up what it is told, asks for effects, and sets timers, all on demand. */
const counter: Role = {
  name: 'counter',
  machine: coderF,
  recycles: false,
  initialData: { total: 0 },
  handle(agent: AgentView, event) {
    const payload = event.payload as { [key: string]: Json }
    switch (event.type) {
      case 'add': {
        const order = [...((agent.data.order ?? []) as number[]), payload.number as number]
        return { set: { total: Number(agent.data.total) + Number(payload.number), order } }
      }
      case 'work':
        return { effects: [{ kind: 'work', input: payload.label ?? null }] }
      case 'remind':
        return { timers: { reminder: event.atMs + Number(payload.afterMs) } }
      case 'pass':
        return {
          send: [
            { to: payload.to as AgentId, type: 'add', payload: { number: payload.number ?? 0 } },
          ],
        }
      case 'begin':
        return { move: { event: 'story_assigned', to: 'SETUP' } }
      case TIMER_FIRED:
        return { set: { reminded: Number(agent.data.reminded ?? 0) + 1 } }
      case EFFECT_FINISHED:
        return { set: { finished: Number(agent.data.finished ?? 0) + 1 } }
      default:
        return {}
    }
  },
}

/** The five promises of a runtime, as a suite that any implementation can be held to. */
export function describeRuntime(name: string, makePlace: () => Promise<RuntimePlace>): void {
  describe(`${name} as a runtime`, () => {
    let place: RuntimePlace
    let runtime: Runtime
    let runWork: EffectHandler['run']

    const start = async () => {
      const work: EffectHandler = { run: (effect, context) => runWork(effect, context) }
      runtime = await place.start(counter, { work })
      await runtime.createRun(RUN, {})
      await runtime.createAgent({ id: COUNTER, run: RUN, role: 'counter' })
    }
    const killAndStart = async () => {
      await place.kill()
      await start()
    }
    const deliver = (id: string, type: string, payload: Json, agent = COUNTER) =>
      runtime.deliver({ id: id as EventId, agent, type, payload })
    const agentNow = async (id = COUNTER) => {
      const agents = await place.read((journal) => journal.readAgents(RUN))
      return agents.find((agent) => agent.id === id)
    }
    const rowsNow = () => place.read((journal) => journal.readRows(RUN, 0, 1e6))
    const finishedRows = async () =>
      (await rowsNow()).filter((row: StoredRow) => row.eventType === EFFECT_FINISHED)

    beforeEach(async () => {
      runWork = async () => ({ ok: true, value: null })
      place = await makePlace()
      await start()
    })

    afterEach(async () => {
      await place.kill()
      const { differences } = await place.read((journal) => replay(journal, RUN))
      await place.dispose()
      expect(differences).toEqual([])
    })

    test('1: events of one agent are handled one at a time, in the order of acceptance', async () => {
      const numbers = Array.from({ length: 300 }, (_, i) => i)
      await Promise.all(numbers.map((number) => deliver(`e${number}`, 'add', { number })))
      await runtime.idle()
      expect((await agentNow())?.data.order).toEqual(numbers)
    })

    test('2: a repeated event id changes nothing, also after a kill', async () => {
      expect(await deliver('once', 'add', { number: 5 })).toBe('accepted')
      expect(await deliver('once', 'add', { number: 5 })).toBe('duplicate')
      await killAndStart()
      expect(await deliver('once', 'add', { number: 7 })).toBe('duplicate')
      const repeats = ['x', 'x', 'x'].map((id) => deliver(id, 'add', { number: 1 }))
      expect((await Promise.all(repeats)).sort()).toEqual(['accepted', 'duplicate', 'duplicate'])
      await runtime.idle()
      expect((await agentNow())?.data.total).toBe(6)
    })

    test('3: what an event does is durable as one, before any effect of it runs', async () => {
      const seen: boolean[] = []
      runWork = async (effect) => {
        const rows = await rowsNow()
        seen.push(rows.some((row) => row.body.effects?.some(({ id }) => id === effect.id) ?? false))
        return { ok: true, value: null }
      }
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => deliver(`w${i}`, 'work', { label: i })),
      )
      await vi.waitUntil(() => seen.length === 20)
      expect(seen).toEqual(Array.from({ length: 20 }, () => true))
    })

    test('3: what was acknowledged is there after a kill', async () => {
      await deliver('a', 'add', { number: 3 })
      await deliver('b', 'begin', null)
      await killAndStart()
      await runtime.idle()
      expect(await agentNow()).toMatchObject({ state: 'SETUP', data: { total: 3 } })
    })

    test('3: messages arrive exactly once', async () => {
      const other = 'counter-2' as AgentId
      await runtime.createAgent({ id: other, run: RUN, role: 'counter' })
      for (let i = 0; i < 10; i += 1) {
        await deliver(`p${i}`, 'pass', { to: other, number: 1 })
        if (i % 3 === 0) await killAndStart()
      }
      await runtime.idle()
      expect((await agentNow(other))?.data.total).toBe(10)
    })

    test('4: an effect that was under way at a kill runs again under its id; one outcome counts', async () => {
      const ids: EffectId[] = []
      runWork = async (effect) => {
        ids.push(effect.id)
        return ids.length === 1 ? new Promise(() => {}) : { ok: true, value: null }
      }
      await deliver('w', 'work', { label: 'x' })
      await vi.waitUntil(() => ids.length === 1)
      await killAndStart()
      await vi.waitUntil(async () => (await agentNow())?.data.finished === 1)
      expect(ids).toEqual([ids[0], ids[0]])
      expect(ids[0]).toMatch(/^counter-1:\d+\.0$/)
      expect(await finishedRows()).toHaveLength(1)
      await killAndStart()
      await runtime.idle()
      expect(ids).toHaveLength(2)
      expect(await finishedRows()).toHaveLength(1)
    })

    test('5: a timer survives a kill, and one that was overdue fires', async () => {
      await deliver('r', 'remind', { afterMs: 300 })
      await place.kill()
      await new Promise((resolve) => setTimeout(resolve, 400))
      await start()
      await vi.waitUntil(async () => (await agentNow())?.data.reminded === 1)
      expect((await agentNow())?.timers).toEqual({})
    })

    test('5: a timer that was set again fires once, at the later time', async () => {
      await deliver('r1', 'remind', { afterMs: 50 })
      await deliver('r2', 'remind', { afterMs: 400 })
      await vi.waitUntil(async () => (await agentNow())?.data.reminded !== undefined, 5 * SECOND_MS)
      const rows = await rowsNow()
      const set = rows.findLast((row) => row.eventType === 'remind')
      const fired = rows.filter((row) => row.eventType === TIMER_FIRED && row.kind === 'stayed')
      expect(fired).toHaveLength(1)
      expect((fired[0]?.atMs ?? 0) - (set?.atMs ?? 0)).toBeGreaterThanOrEqual(400)
    })

    test('random kills and repeated deliveries come to what an undisturbed run comes to', async () => {
      const random = new Random(Date.now())
      const numbers = Array.from({ length: 60 }, () => random.below(100))
      for (const [i, number] of numbers.entries()) {
        const attempts = 1 + random.below(3)
        for (let attempt = 0; attempt < attempts; attempt += 1) {
          await deliver(`n${i}`, 'add', { number })
          if (random.chance(0.15)) await killAndStart()
        }
        if (random.chance(0.3)) await deliver(`w${i}`, 'work', { label: i })
      }
      await vi.waitUntil(async () => {
        const asked = (await rowsNow()).filter((row) => row.eventType === 'work').length
        return (await finishedRows()).length === asked
      }, 5 * SECOND_MS)
      const total = numbers.reduce((sum, number) => sum + number, 0)
      expect((await agentNow())?.data).toMatchObject({ total, order: numbers })
    })
  })
}
