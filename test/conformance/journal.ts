import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AgentId, EventId, RunId } from '../../src/agents/values.ts'
import type { Journal } from '../../src/runtime/journal.ts'
import { agentOf, batchOf, effectOf, mailOf, RUN, rowOf, runOf } from './batches.ts'

/** A place where a journal can be opened, closed and opened again. */
export interface JournalPlace {
  open(): Promise<Journal>
  dispose(): Promise<void>
}

/** What every journal must do, whatever it is made of. */
export function describeJournal(name: string, makePlace: () => Promise<JournalPlace>): void {
  describe(`${name} as a journal`, () => {
    let place: JournalPlace
    let journal: Journal

    beforeEach(async () => {
      place = await makePlace()
      journal = await place.open()
    })

    afterEach(async () => {
      await journal.close()
      await place.dispose()
    })

    const reopen = async () => {
      await journal.close()
      journal = await place.open()
    }

    /** A run and an agent that was born. */
    const populate = async () => {
      const { row, agent } = rowOf(agentOf(1), { kind: 'born', to: 'WAITING' })
      await journal.commit(batchOf({ runs: [runOf()], agents: [agent], rows: [row] }))
      return agent
    }

    test('is empty at first', async () => {
      expect(await journal.recover()).toEqual({
        runs: [],
        agentsWithMail: [],
        effects: [],
        closures: [],
        nextDueMs: null,
        nextAgentKey: 1,
        nextRunKey: 1,
        nextOrder: 1,
      })
      expect(await journal.loadAgents(['nobody' as AgentId])).toEqual([])
      expect(await journal.readRows(RUN, 0, 10)).toEqual([])
    })

    test('keeps runs, agents and rows, also when it is opened again', async () => {
      const agent = await populate()
      const next = rowOf(agent, { kind: 'moved', to: 'SETUP', move: 'story_assigned' })
      await journal.commit(batchOf({ rows: [next.row], agents: [next.agent] }))
      await reopen()
      expect(await journal.readRuns()).toEqual([runOf()])
      expect(await journal.readAgents(RUN)).toEqual([next.agent])
      expect(await journal.loadAgents([agent.id])).toEqual([{ record: next.agent, inbox: [] }])
      const rows = await journal.readRows(RUN, 0, 10)
      expect(rows.map(({ seq, ...row }) => row)[1]).toEqual(next.row)
      expect(await journal.recover()).toMatchObject({ nextAgentKey: 2, nextRunKey: 2 })
    })

    test('changes the status of a run', async () => {
      await populate()
      await journal.commit(batchOf({ runs: [{ ...runOf(), status: 'paused' }] }))
      expect((await journal.recover()).runs).toEqual([{ ...runOf(), status: 'paused' }])
    })

    test('writes a batch once, however often it is committed', async () => {
      const agent = await populate()
      const next = rowOf(agent)
      const batch = batchOf({ rows: [next.row], agents: [next.agent] })
      await journal.commit(batch)
      await journal.commit(batch)
      expect(await journal.readRows(RUN, 0, 10)).toHaveLength(2)
    })

    test('refuses a snapshot that is not newer than what is stored, with all of its batch', async () => {
      const agent = await populate()
      const next = rowOf(agent)
      await journal.commit(batchOf({ rows: [next.row], agents: [next.agent] }))
      const mail = [mailOf(agent, 1)]
      for (const stale of [agent, next.agent]) {
        const batch = batchOf({ rows: [next.row], agents: [stale], inboxAdded: mail })
        await expect(journal.commit(batch)).rejects.toThrow(/is older than what is stored/)
      }
      expect(await journal.readRows(RUN, 0, 10)).toHaveLength(2)
      expect(await journal.loadAgents([agent.id])).toEqual([{ record: next.agent, inbox: [] }])
    })

    test('writes many rows in one batch, in their order', async () => {
      let agent = await populate()
      const rows = Array.from({ length: 37 }, () => {
        const next = rowOf(agent)
        agent = next.agent
        return next.row
      })
      await journal.commit(batchOf({ rows, agents: [agent] }))
      const stored = await journal.readRows(RUN, 1, 100)
      expect(stored.map(({ seq, ...row }) => row)).toEqual(rows)
    })

    test('keeps mail in the order of acceptance, until it is removed', async () => {
      const agent = await populate()
      const mail = [3, 1, 2].map((order) => mailOf(agent, order))
      await journal.commit(batchOf({ inboxAdded: mail }))
      const orders = async () =>
        (await journal.loadAgents([agent.id]))[0]?.inbox.map((event) => event.order)
      expect(await orders()).toEqual([1, 2, 3])
      expect(await journal.recover()).toMatchObject({ agentsWithMail: [agent.id], nextOrder: 4 })
      await journal.commit(batchOf({ inboxRemoved: [1, 3] }))
      await reopen()
      expect(await orders()).toEqual([2])
      await journal.commit(batchOf({ inboxRemoved: [2] }))
      expect((await journal.recover()).agentsWithMail).toEqual([])
    })

    test('replaces mail that is removed and added in one batch', async () => {
      const agent = await populate()
      await journal.commit(batchOf({ inboxAdded: [mailOf(agent, 1)] }))
      const tried = mailOf(agent, 1, { tries: 1, urgent: true })
      await journal.commit(batchOf({ inboxRemoved: [1], inboxAdded: [tried] }))
      expect((await journal.loadAgents([agent.id]))[0]?.inbox).toEqual([tried])
    })

    test('knows the ids that it accepted, for good', async () => {
      const ids = ['a', 'b', 'c'] as EventId[]
      await journal.commit(batchOf({ accepted: ['a', 'b'] as EventId[] }))
      await journal.commit(batchOf({ accepted: ['b'] as EventId[] }))
      await reopen()
      expect(await journal.seen(ids)).toEqual(new Set(['a', 'b']))
    })

    test('accepts ids that were looked up when they are committed, and not before', async () => {
      const [a, b, c] = ['a', 'b', 'c'] as [EventId, EventId, EventId]
      expect(await journal.seen([a, b])).toEqual(new Set())
      expect(await journal.seen([a, b])).toEqual(new Set())
      await journal.commit(batchOf({ accepted: [a, b] }))
      expect(await journal.seen([c, a])).toEqual(new Set([a]))
      expect(await journal.seen([c])).toEqual(new Set())
      await journal.commit(batchOf({}))
      await reopen()
      expect(await journal.seen([a, b, c])).toEqual(new Set([a, b]))
    })

    test('accepts what is committed of the ids that were looked up, and no more', async () => {
      const ids = ['a', 'b', 'c'] as EventId[]
      expect(await journal.seen(ids)).toEqual(new Set())
      await journal.commit(batchOf({ accepted: ids.slice(0, 2) }))
      await reopen()
      expect(await journal.seen(ids)).toEqual(new Set(ids.slice(0, 2)))
    })

    test('is asked for an id twice in one question, and accepts it once', async () => {
      const id = 'a' as EventId
      expect(await journal.seen([id, id])).toEqual(new Set())
      await journal.commit(batchOf({ accepted: [id] }))
      expect(await journal.seen([id, id])).toEqual(new Set([id]))
    })

    test('forgets the ids of a batch that it refuses', async () => {
      const ids = ['a'] as EventId[]
      const agent = await populate()
      expect(await journal.seen(ids)).toEqual(new Set())
      const stale = batchOf({ agents: [agent], accepted: ids })
      await expect(journal.commit(stale)).rejects.toThrow()
      expect(await journal.seen(ids)).toEqual(new Set())
      const next = rowOf(agent)
      await journal.commit(batchOf({ rows: [next.row], agents: [next.agent], accepted: ids }))
      await reopen()
      expect(await journal.seen(ids)).toEqual(new Set(ids))
      expect(await journal.readRows(RUN, 0, 10)).toHaveLength(2)
    })

    test('tells which ids it accepted, and of which the event is nowhere', async () => {
      const agent = await populate()
      const next = rowOf(agent)
      const mail = mailOf(agent, 1)
      const handled = next.row.eventId
      const accepted = [handled, mail.id, 'lost-1', 'lost-2'] as EventId[]
      const batch = { rows: [next.row], agents: [next.agent], inboxAdded: [mail] }
      await journal.commit(batchOf({ ...batch, accepted }))
      const ids = [handled, 'never', 'lost-1'] as EventId[]
      expect(await journal.readAccepted(ids)).toEqual(new Set([handled, 'lost-1']))
      expect(await journal.readAccepted([])).toEqual(new Set())
      expect(await journal.seen(['asked'] as EventId[])).toEqual(new Set())
      expect(await journal.readLost(10)).toEqual(['lost-1', 'lost-2'])
      expect(await journal.seen(['asked'] as EventId[])).toEqual(new Set())
      expect(await journal.readAccepted(['asked'] as EventId[])).toEqual(new Set())
      expect(await journal.readLost(1)).toHaveLength(1)
    })

    test.each(['held', 'waiting'] as const)(
      'keeps open effects, also %s, until they are removed',
      async (phase) => {
        const agent = await populate()
        const effects = ['agent-1:2.0', 'agent-1:2.1'].map((id) => effectOf(agent, id))
        await journal.commit(batchOf({ effectsAdded: effects }))
        const [first, second] = effects
        if (first === undefined || second === undefined) throw new Error('two were made')
        await journal.commit(batchOf({ effectPhases: [{ id: first.id, phase }] }))
        await reopen()
        expect((await journal.recover()).effects).toEqual([{ ...first, phase }, second])
        await journal.commit(batchOf({ effectsRemoved: [first.id] }))
        expect((await journal.recover()).effects).toEqual([second])
        expect(await journal.readEffects(RUN)).toEqual([second])
        expect(await journal.readEffects('another' as RunId)).toEqual([])
      },
    )

    test('keeps the last time that each service named', async () => {
      const closure = (service: string, untilMs: number) => ({ service, untilMs })
      const first = [closure('forge', 1_900_000_000_000), closure('model', 2_000_000_000_000)]
      await journal.commit(batchOf({ closures: first }))
      await reopen()
      expect((await journal.recover()).closures).toEqual(first)
      await journal.commit(batchOf({ closures: [closure('forge', 1e15)] }))
      await reopen()
      expect(new Set((await journal.recover()).closures)).toEqual(
        new Set([closure('forge', 1e15), closure('model', 2_000_000_000_000)]),
      )
    })

    test('finds the timers that are due, the earliest first', async () => {
      const agent = await populate()
      const timer = (name: string, dueMs: number) => ({
        agent: agent.key,
        agentId: agent.id,
        name,
        epoch: 2,
        dueMs,
      })
      const timersSet = [timer('late', 300), timer('early', 100), timer('middle', 200)]
      await journal.commit(batchOf({ timersSet }))
      await reopen()
      const due = async (nowMs: number, limit = 10) =>
        (await journal.dueTimers(nowMs, limit)).map(({ name }) => name)
      expect(await due(99)).toEqual([])
      expect(await due(200)).toEqual(['early', 'middle'])
      expect(await due(300, 2)).toEqual(['early', 'middle'])
      expect(await journal.nextDueMs()).toBe(100)
      await journal.commit(batchOf({ timersSet: [{ ...timer('early', 900), epoch: 3 }] }))
      await journal.commit(batchOf({ timersRemoved: [{ agent: agent.key, name: 'middle' }] }))
      expect(await journal.dueTimers(1_000, 10)).toEqual([
        timer('late', 300),
        { ...timer('early', 900), epoch: 3 },
      ])
      expect((await journal.recover()).nextDueMs).toBe(300)
    })

    test('says when something last happened', async () => {
      expect(await journal.readLastMs(RUN)).toBe(null)
      const next = rowOf(await populate())
      const row = { ...next.row, atMs: 77_000 }
      await journal.commit(batchOf({ rows: [row], agents: [next.agent] }))
      expect(await journal.readLastMs(RUN)).toBe(77_000)
    })

    test('reads rows page by page', async () => {
      let agent = await populate()
      for (let i = 0; i < 5; i += 1) {
        const next = rowOf(agent)
        agent = next.agent
        await journal.commit(batchOf({ rows: [next.row], agents: [agent] }))
      }
      const first = await journal.readRows(RUN, 0, 4)
      const second = await journal.readRows(RUN, first.at(-1)?.seq ?? 0, 4)
      expect([...first, ...second].map((row) => row.agentSeq)).toEqual([1, 2, 3, 4, 5, 6])
    })
  })
}
