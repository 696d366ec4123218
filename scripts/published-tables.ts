import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { MachineTable } from '../src/machines/table.ts'

/** Where the hash of every published table is recorded. */
export const PUBLISHED_FILE = 'src/machines/published.json'

/** A hash of what agents obey: states, rows, start, ends and outcomes. Prose may be improved. */
export function fingerprint(table: MachineTable): string {
  const { id, revision, date, initial, terminal, states, transitions, selfLoops, outcomes } = table
  const rows = transitions.map((row) => [
    row.from,
    row.event,
    row.to,
    row.guard ?? null,
    row.action ?? null,
    row.toOrigin ?? false,
    row.unlabelled ?? false,
  ])
  const law = [
    [id, revision, date, initial, terminal, selfLoops ?? false],
    Object.keys(states),
    rows,
    Object.keys(outcomes ?? {}),
  ]
  return createHash('sha256').update(JSON.stringify(law)).digest('hex')
}

/** The recorded hash of each published table, by machine name. */
export function readPublished(): Record<string, string> {
  return JSON.parse(readFileSync(PUBLISHED_FILE, 'utf8'))
}
