import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expandRows } from '../src/machines/lookup.ts'
import type { MachineTable, Transition } from '../src/machines/table.ts'

/** Where the hash of every published table is recorded. */
export const PUBLISHED_FILE = 'src/machines/published.json'

/**
 * A hash of what agents obey: states, rows, start, ends and outcomes, the rows also as `step` sees
 * them, with `*` written out and SUSPEND added. Prose may be improved.
 */
export function fingerprint(table: MachineTable): string {
  const { id, revision, date, initial, terminal, states, transitions, selfLoops, outcomes } = table
  const law = [
    [id, revision, date, initial, terminal, selfLoops ?? false],
    Object.keys(states),
    transitions.map(columnsOf),
    expandRows(table).map(columnsOf),
    Object.keys(outcomes ?? {}),
  ]
  return createHash('sha256').update(JSON.stringify(law)).digest('hex')
}

function columnsOf(row: Transition) {
  const { from, event, to, guard, action, toOrigin, unlabelled } = row
  return [from, event, to, guard ?? null, action ?? null, toOrigin ?? false, unlabelled ?? false]
}

/** The recorded hash of each published table, by machine name. */
export function readPublished(): Record<string, string> {
  return JSON.parse(readFileSync(PUBLISHED_FILE, 'utf8'))
}
