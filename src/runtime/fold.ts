import type { JsonObject } from '../agents/values.ts'
import { findMachine } from '../machines/catalog.ts'
import { SUSPEND } from '../machines/suspend.ts'
import type { AgentRecord, JournalRow, Timer } from './records.ts'

/** What of an agent no row says, because it never changes. */
export type AgentIdentity = Pick<AgentRecord, 'key' | 'id' | 'run' | 'runKey' | 'role' | 'machine'>

/** An agent before its first row. */
export function unborn(identity: AgentIdentity): AgentRecord {
  const { key, id, run, runKey, role, machine } = identity
  return {
    key,
    id,
    run,
    runKey,
    role,
    machine,
    state: null,
    origin: null,
    suspendedFrom: null,
    data: {},
    seq: 0,
    generation: 0,
    bornSeq: 0,
    halted: false,
    timers: {},
    recycling: null,
    restartsMs: [],
  }
}

/**
 * The agent after one more row. The runtime makes every snapshot with this function and replay
 * folds the journal with it, so the two can only differ where storage failed.
 */
export function applyRow(agent: AgentRecord, row: JournalRow): AgentRecord {
  const { body } = row
  if (row.kind === 'born') {
    return {
      ...unborn(agent),
      seq: row.agentSeq,
      state: row.to,
      data: body.birth?.data ?? {},
      generation: body.birth?.generation ?? 0,
      bornSeq: row.agentSeq,
      restartsMs: body.birth?.restartsMs ?? [],
    }
  }
  const moved = row.kind === 'moved'
  // Written out, not spread: this is the hottest object of the runtime, and a spread costs twice.
  return {
    key: agent.key,
    id: agent.id,
    run: agent.run,
    runKey: agent.runKey,
    role: agent.role,
    machine: agent.machine,
    state: row.to,
    origin: moved ? originAfter(agent, row) : agent.origin,
    suspendedFrom: moved ? (row.to === SUSPEND ? row.from : null) : agent.suspendedFrom,
    data: body.set === undefined ? agent.data : merge(agent.data, body.set),
    seq: row.agentSeq,
    generation: agent.generation,
    bornSeq: agent.bornSeq,
    halted: row.kind === 'halted',
    timers: body.timers === undefined ? agent.timers : setTimers(agent.timers, row),
    // Who moved on from the end is not cleaned up after.
    recycling: body.recycling ?? (moved ? null : agent.recycling),
    restartsMs: agent.restartsMs,
  }
}

/** SUSPEND and the way back keep the origin of the state that was suspended. */
function originAfter(agent: AgentRecord, row: JournalRow): string | null {
  if (row.from === SUSPEND || row.to === SUSPEND) return agent.origin
  const returning = findMachine(agent.machine)?.returning ?? []
  return row.to !== null && returning.includes(row.to) ? row.from : null
}

function merge(data: JsonObject, set: JsonObject): JsonObject {
  const merged = { ...data, ...set }
  for (const key of Object.keys(set)) if (set[key] === null) delete merged[key]
  return merged
}

function setTimers(timers: AgentRecord['timers'], row: JournalRow): AgentRecord['timers'] {
  const next: Record<string, Timer> = { ...timers }
  for (const [name, dueMs] of Object.entries(row.body.timers ?? {})) {
    if (dueMs === null) delete next[name]
    else next[name] = { epoch: row.agentSeq, dueMs }
  }
  return next
}
