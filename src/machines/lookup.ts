import { OVERLAY_STATES, suspendRows } from './suspend.ts'
import type { MachineTable, Transition } from './table.ts'

/** State, then event, then the next state, or the next states by remembered origin. */
export type Lookup = ReadonlyMap<string | null, ReadonlyMap<string, Target>>

type Target = string | ReadonlyMap<string, string>

/** Every row of a machine with `*` written out and the overlay added. A row of a state's own wins over `*`. */
function expandRows(table: MachineTable): Transition[] {
  const states = [...new Set([...Object.keys(table.states), ...Object.keys(OVERLAY_STATES)])]
  const own = [...table.transitions.filter((row) => row.from !== '*'), ...suspendRows(table)]
  const taken = new Set(own.map((row) => `${row.from} ${row.event}`))
  const wild = table.transitions
    .filter((row) => row.from === '*')
    .flatMap((row) => states.map((from): Transition => ({ ...row, from })))
    .filter((row) => !taken.has(`${row.from} ${row.event}`))
  return [...own, ...wild]
}

/** Builds the nested maps once, so that a step allocates nothing. */
export function buildLookup(table: MachineTable): Lookup {
  const lookup = new Map<string | null, Map<string, string | Map<string, string>>>()
  for (const { from, event, to, toOrigin } of expandRows(table)) {
    const events = lookup.get(from) ?? new Map<string, string | Map<string, string>>()
    lookup.set(from, events)
    if (toOrigin === undefined) {
      events.set(event, to)
      continue
    }
    const byOrigin = events.get(event)
    if (byOrigin instanceof Map) byOrigin.set(to, to)
    else events.set(event, new Map([[to, to]]))
  }
  return lookup
}
