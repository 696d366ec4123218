import type { AgentId, EffectId, EventId, RunId } from '../../src/agents/values.ts'
import {
  type Batch,
  type Journal,
  JournalError,
  type LoadedAgent,
  type Recovery,
} from '../../src/runtime/journal.ts'
import type {
  AgentRecord,
  Closure,
  EffectRecord,
  InboxEvent,
  RunRecord,
  StoredRow,
  TimerRecord,
} from '../../src/runtime/records.ts'

/** A disk: batches that are safe, and batches that a crash takes away. */
export class MemoryDisk {
  readonly #safe: Batch[] = []
  #unsafe: Batch[] = []
  contents = new Contents()

  write(batch: Batch): void {
    this.#unsafe.push(batch)
    this.contents.apply(batch)
  }

  sync(): void {
    this.#safe.push(...this.#unsafe)
    this.#unsafe = []
  }

  /** Whether a batch that is safe has the property. */
  isDurable(has: (batch: Batch) => boolean): boolean {
    return this.#safe.findLast(has) !== undefined
  }

  /** Power fails: what was not synced is gone. */
  crash(): void {
    if (this.#unsafe.length === 0) return
    this.#unsafe = []
    this.contents = new Contents()
    for (const batch of this.#safe) this.contents.apply(batch)
  }
}

/** What the batches on a disk add up to. */
class Contents {
  readonly runs = new Map<RunId, RunRecord>()
  readonly agents = new Map<AgentId, AgentRecord>()
  readonly rows: StoredRow[] = []
  readonly inbox = new Map<number, InboxEvent>()
  readonly effects = new Map<EffectId, EffectRecord>()
  readonly timers = new Map<string, TimerRecord>()
  readonly closures = new Map<string, Closure>()
  readonly accepted = new Set<EventId>()
  lastBatch = ''

  acceptedOf(ids: readonly EventId[]): Set<EventId> {
    return new Set(ids.filter((id) => this.accepted.has(id)))
  }

  /** The ids that were accepted, of events that are nowhere. */
  lost(): EventId[] {
    const mail = [...this.inbox.values()].map((event) => event.id)
    const known = new Set([...this.rows.map((row) => row.eventId), ...mail])
    return [...this.accepted].filter((id) => !known.has(id))
  }

  apply(batch: Batch): void {
    this.lastBatch = batch.id
    for (const run of batch.runs) this.runs.set(run.id, run)
    for (const agent of batch.agents) this.agents.set(agent.id, agent)
    for (const row of batch.rows) this.rows.push({ ...row, seq: this.rows.length + 1 })
    for (const id of batch.accepted) this.accepted.add(id)
    for (const order of batch.inboxRemoved) this.inbox.delete(order)
    for (const event of batch.inboxAdded) this.inbox.set(event.order, event)
    for (const id of batch.effectsRemoved) this.effects.delete(id)
    for (const effect of batch.effectsAdded) this.effects.set(effect.id, effect)
    for (const { id, phase } of batch.effectPhases) {
      const effect = this.effects.get(id)
      if (effect !== undefined) this.effects.set(id, { ...effect, phase })
    }
    for (const { agent, name } of batch.timersRemoved) this.timers.delete(`${agent} ${name}`)
    for (const closure of batch.closures) this.closures.set(closure.service, closure)
    for (const timer of batch.timersSet) this.timers.set(`${timer.agent} ${timer.name}`, timer)
  }
}

/** A copy that shares nothing with its original; what is stored is JSON. */
export function copyOf(batch: Batch): Batch {
  return JSON.parse(JSON.stringify(batch))
}

/** A journal on a disk of memory, for simulations: fast, and a crash can be had at any point. */
export function openMemoryJournal(disk: MemoryDisk): Journal {
  const timersByDue = () => [...disk.contents.timers.values()].sort((a, b) => a.dueMs - b.dueMs)
  const mailOf = (agent: AgentId) =>
    [...disk.contents.inbox.values()]
      .filter((event) => event.agent === agent)
      .sort((a, b) => a.order - b.order)
  let open = true

  return {
    async recover(): Promise<Recovery> {
      const { runs, agents, inbox, effects, closures } = disk.contents
      return {
        runs: [...runs.values()],
        agentsWithMail: [...new Set([...inbox.values()].map((event) => event.agent))],
        effects: [...effects.values()],
        closures: [...closures.values()],
        nextDueMs: timersByDue()[0]?.dueMs ?? null,
        nextAgentKey: agents.size + 1,
        nextRunKey: runs.size + 1,
        nextOrder: Math.max(0, ...inbox.keys()) + 1,
      }
    },
    async loadAgents(ids): Promise<LoadedAgent[]> {
      return ids.flatMap((id) => {
        const record = disk.contents.agents.get(id)
        return record === undefined ? [] : [{ record, inbox: mailOf(id) }]
      })
    },
    async commit(batch) {
      if (!open) throw new JournalError('lost', 'the journal is closed')
      if (disk.contents.lastBatch !== batch.id) {
        for (const { id, seq } of batch.agents) {
          if (seq > (disk.contents.agents.get(id)?.seq ?? 0)) continue
          throw new Error(`row ${seq} of ${id} is older than what is stored`)
        }
        disk.write(copyOf(batch))
      }
      disk.sync()
    },
    async seen(ids) {
      return disk.contents.acceptedOf(ids)
    },
    async dueTimers(nowMs, limit) {
      return timersByDue()
        .filter((timer) => timer.dueMs <= nowMs)
        .slice(0, limit)
    },
    async nextDueMs() {
      return timersByDue()[0]?.dueMs ?? null
    },
    async readRows(run, afterSeq, limit) {
      const key = disk.contents.runs.get(run)?.key
      return disk.contents.rows.filter((r) => r.run === key && r.seq > afterSeq).slice(0, limit)
    },
    async readLastMs(run) {
      const key = disk.contents.runs.get(run)?.key
      return disk.contents.rows.findLast((row) => row.run === key)?.atMs ?? null
    },
    async readAccepted(ids) {
      return disk.contents.acceptedOf(ids)
    },
    async readLost(limit) {
      return disk.contents.lost().slice(0, limit)
    },
    async readAgents(run) {
      return [...disk.contents.agents.values()].filter((agent) => agent.run === run)
    },
    async readEffects(run) {
      return [...disk.contents.effects.values()].filter((effect) => effect.run === run)
    },
    async readRuns() {
      return [...disk.contents.runs.values()]
    },
    async close() {
      open = false
    },
  }
}
