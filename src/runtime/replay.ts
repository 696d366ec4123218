import type { AgentId, RunId } from '../agents/values.ts'
import { applyRow, unborn } from './fold.ts'
import type { JournalReader } from './journal.ts'
import type { AgentRecord, StoredRow } from './records.ts'

const PAGE_ROWS = 10_000

/** What folding a run's journal showed. */
export interface Replay {
  readonly rows: number
  /** Every agent as the rows make it, at the place that was asked for or at the end. */
  readonly agents: readonly AgentRecord[]
  /** Where the fold and the stored snapshots differ; empty for a sound journal. */
  readonly differences: readonly string[]
}

export interface ReplayOptions {
  /** Fold no further than this place in the journal; snapshots are then not compared. */
  readonly atSeq?: number
  /** Sees every row in order. */
  onRow?(row: StoredRow): void
}

/** Folds a run's journal from the beginning, and compares the result with the stored snapshots. */
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
    after = page.at(-1)?.seq ?? Infinity
  }
  if (atSeq === Infinity) differences.push(...compare(stored, folded))
  return { rows, agents: [...folded.values()], differences }
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
