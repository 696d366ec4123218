import type { AgentId } from '../../src/agents/values.ts'
import type { RuntimeParts } from '../../src/runtime/embedded-runtime.ts'
import type { Batch, Journal } from '../../src/runtime/journal.ts'
import { copyOf } from './memory-journal.ts'
import type { Mutation, World } from './world.ts'

/** A journal that keeps something of every batch to itself. */
function withheld(alter: (batch: Batch, world: World) => Batch): Mutation {
  return {
    journal: (journal, world) => ({
      ...journal,
      commit: (batch) => journal.commit(alter(batch, world)),
    }),
  }
}

/** Writes one part of a batch, then the other: a crash can fall between. */
function torn(journal: Journal, world: World): Journal {
  return {
    ...journal,
    async commit(batch) {
      const rest = { inboxRemoved: [], effectsAdded: [], effectsRemoved: [], timersSet: [] }
      await journal.commit({ ...batch, ...rest, id: `${batch.id}-a` })
      await world.clock.delay(3)
      await journal.commit({ ...batch, rows: [], agents: [], id: batch.id })
    },
  }
}

type Loaded = Awaited<ReturnType<Journal['loadAgents']>>[number]

/** Answers with what an agent was when it was last asked for. */
function staleReads(journal: Journal): Journal {
  const earlier = new Map<AgentId, Loaded>()
  return {
    ...journal,
    async loadAgents(ids) {
      const loaded = await journal.loadAgents(ids)
      return loaded.map((agent) => {
        const before = earlier.get(agent.record.id) ?? agent
        earlier.set(agent.record.id, agent)
        return before
      })
    },
  }
}

/** Makes every so-many-th answer of a behaviour an illegal one. */
function cheating(parts: RuntimeParts): RuntimeParts {
  let count = 0
  const roles = parts.roles.map((role) => ({
    ...role,
    handle: (...args: Parameters<typeof role.handle>) => {
      count += 1
      const decision = role.handle(...args)
      return count % 40 === 0
        ? { ...decision, move: { event: 'merged', to: 'DONE' } as const }
        : decision
    },
  }))
  return { ...parts, roles }
}

/** Deliberate bugs, each of which the simulation has to notice. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'fsync is dropped': {
    journal: (journal, world) => ({
      ...journal,
      commit: async (batch) => world.disk.write(copyOf(batch)),
    }),
  },
  'the commit is acknowledged before it is done, so effects run before it': {
    journal: (journal, world) => ({
      ...journal,
      commit: async (batch) => {
        world.clock.after(400, () => void journal.commit(batch).catch(() => {}))
      },
    }),
  },
  'a batch is written in two parts': { journal: torn },
  'a repeated batch is written again': {
    journal: (journal, world) => ({
      ...journal,
      commit: async (batch) => {
        world.disk.write(copyOf(batch))
        world.disk.sync()
      },
    }),
  },
  'repeated deliveries are not looked up': {
    journal: (journal) => ({ ...journal, seen: async () => new Set() }),
  },
  'accepted ids are not remembered': withheld((batch) => ({ ...batch, accepted: [] })),
  'waiting mail is not stored': withheld((batch) => ({ ...batch, inboxAdded: [] })),
  'handled mail is not removed': withheld((batch) => ({ ...batch, inboxRemoved: [] })),
  'mail is read in the wrong order': {
    journal: (journal) => ({
      ...journal,
      loadAgents: async (ids) =>
        (await journal.loadAgents(ids)).map((a) => ({ ...a, inbox: a.inbox.toReversed() })),
    }),
  },
  'effects are not stored': withheld((batch) => ({ ...batch, effectsAdded: [] })),
  'finished effects are not removed': withheld((batch) => ({ ...batch, effectsRemoved: [] })),
  'effects are forgotten at a restart': {
    journal: (journal) => ({
      ...journal,
      recover: async () => ({ ...(await journal.recover()), effects: [] }),
    }),
  },
  'mail is forgotten at a restart': {
    journal: (journal) => ({
      ...journal,
      recover: async () => ({ ...(await journal.recover()), agentsWithMail: [] }),
    }),
  },
  'the times that services named are not stored': withheld((batch) => ({
    ...batch,
    closures: [],
  })),
  'the times that services named are forgotten at a restart': {
    journal: (journal) => ({
      ...journal,
      recover: async () => ({ ...(await journal.recover()), closures: [] }),
    }),
  },
  'timers are not stored': withheld((batch) => ({ ...batch, timersSet: [] })),
  'fired timers are not removed': withheld((batch) => ({ ...batch, timersRemoved: [] })),
  'timers are forgotten at a restart': {
    journal: (journal) => ({
      ...journal,
      recover: async () => ({ ...(await journal.recover()), nextDueMs: null }),
    }),
  },
  'snapshots are not written': withheld((batch) => ({
    ...batch,
    agents: batch.agents.filter((agent) => agent.seq === 1),
  })),
  'snapshots are read stale': { journal: staleReads },
  'rows are missing': withheld((batch) => ({ ...batch, rows: batch.rows.slice(0, 2) })),
  'a behaviour breaks its table': { parts: cheating },
  'the runtime is not woken for timers': {
    parts: (parts) => ({ ...parts, clock: { ...parts.clock, wakeAt: () => () => {} } }),
  },
}
