import type { AgentId, EventId, RunId } from '../agents/values.ts'
import { RESERVED_TYPES } from './decision.ts'
import { applyRow, unborn } from './fold.ts'
import type { JournalReader } from './journal.ts'
import type { AgentRecord, StoredRow } from './records.ts'

const PAGE_ROWS = 10_000

/** So many are named; one is enough for the verdict. */
const LOST_MAX = 10

/** The id of a message, by the row that sent it. */
const MESSAGE_ID = /:\d+\.m\d+$/

/** What folding a run's journal showed. */
export interface Replay {
  readonly rows: number
  /** Every agent as the rows make it, at the place that was asked for or at the end. */
  readonly agents: readonly AgentRecord[]
  /**
   * Where the fold and the stored snapshots differ, or the rows and the ids that were accepted;
   * empty for a sound journal.
   */
  readonly differences: readonly string[]
}

export interface ReplayOptions {
  /** Fold no further than this place in the journal; nothing is then compared. */
  readonly atSeq?: number
  /** Sees every row in order. */
  onRow?(row: StoredRow): void
}

/**
 * Folds a run's journal from the beginning, and compares the result with the stored snapshots, and
 * its events with those that were accepted.
 */
export async function replay(
  journal: JournalReader,
  run: RunId,
  { atSeq = Infinity, onRow }: ReplayOptions = {},
): Promise<Replay> {
  const stored = await journal.readAgents(run)
  const folded = new Map<AgentId, AgentRecord>(stored.map((agent) => [agent.id, unborn(agent)]))
  const differences: string[] = []
  let rows = 0
  for (let after = 0; after < atSeq; ) {
    const page = await journal.readRows(run, after, PAGE_ROWS)
    for (const row of page.filter(({ seq }) => seq <= atSeq)) {
      rows += 1
      onRow?.(row)
      const agent = folded.get(row.agentId)
      if (agent === undefined) {
        differences.push(`row ${row.seq} belongs to ${row.agentId}, who does not exist`)
      } else {
        if (row.agentSeq !== agent.seq + 1) {
          differences.push(`${row.agentId} has row ${row.agentSeq} after row ${agent.seq}`)
        }
        folded.set(row.agentId, applyRow(agent, row))
      }
    }
    if (atSeq === Infinity) differences.push(...(await findForeign(journal, page)))
    after = page.at(-1)?.seq ?? Infinity
  }
  if (atSeq === Infinity) {
    differences.push(...compare(stored, folded))
    for (const id of await journal.readLost(LOST_MAX)) {
      differences.push(`event ${id} was accepted, and is in no row and no inbox`)
    }
  }
  return { rows, agents: [...folded.values()], differences }
}

/** Rows of events that came from outside without being accepted: a repeated one is handled again. */
async function findForeign(journal: JournalReader, rows: readonly StoredRow[]): Promise<string[]> {
  const outer = rows.filter(isFromOutside)
  const accepted = await journal.readAccepted(outer.map(({ eventId }) => eventId))
  return outer
    .filter(({ eventId }) => !accepted.has(eventId))
    .map(({ seq, eventId }) => `row ${seq} is of event ${eventId}, which was never accepted`)
}

/** Whether somebody else named the row's event: the runtime does with births and messages. */
function isFromOutside({ agentId, eventId, eventType }: StoredRow): boolean {
  if (RESERVED_TYPES.has(eventType) || MESSAGE_ID.test(eventId)) return false
  return eventId !== (`${agentId}:born` as EventId)
}

function compare(
  stored: readonly AgentRecord[],
  folded: ReadonlyMap<AgentId, AgentRecord>,
): string[] {
  return stored.flatMap((agent) => {
    const fold = folded.get(agent.id)
    return Object.entries(agent)
      .filter(([key, value]) => canonical(fold?.[key as keyof AgentRecord]) !== canonical(value))
      .map(([key]) => `the ${key} of ${agent.id} is not what its rows say`)
  })
}

/** JSON with sorted keys, so that equal values are equal texts. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
