import { OVERLAY_STATES, suspendRows } from './suspend.ts'
import type { MachineTable, Transition } from './table.ts'

/** State, then event, then the next state, or the next states by remembered origin. */
export type Lookup = ReadonlyMap<string | null, ReadonlyMap<string, Target>>

type Target = string | ReadonlyMap<string, string>

/** Every row of a machine with `*` written out and the overlay added. A row of a state's own wins over `*`. */
export function expandRows(table: MachineTable): Transition[] {
  const states = [...new Set([...Object.keys(table.states), ...Object.keys(OVERLAY_STATES)])]
  const own = [...table.transitions.filter((row) => row.from !== '*'), ...suspendRows(table)]
  const taken = new Set(own.map((row) => `${row.from} ${row.event}`))
  const wild = table.transitions
    .filter((row) => row.from === '*')
    .flatMap((row) => states.map((from): Transition => ({ ...row, from })))
    .filter((row) => !taken.has(`${row.from} ${row.event}`))
  return [...own, ...wild]
}

/** Builds the nested maps once, so that a step allocates nothing. Nobody can change them after. */
export function buildLookup(table: MachineTable): Lookup {
  const lookup = new Map<string | null, Map<string, string | Map<string, string>>>()
  for (const { from, event, to, toOrigin } of expandRows(table)) {
    const events = lookup.get(from) ?? new Map<string, string | Map<string, string>>()
    lookup.set(from, events)
    const target = events.get(event)
    if (toOrigin === undefined) events.set(event, to)
    else if (target instanceof Map) target.set(to, to)
    else events.set(event, new Map([[to, to]]))
  }
  return freezeMap(lookup)
}

/** A Map ignores Object.freeze, so its own methods are taken away. */
function freezeMap<K, V>(map: Map<K, V>): ReadonlyMap<K, V> {
  for (const value of map.values()) if (value instanceof Map) freezeMap(value)
  const refuse = () => {
    throw new TypeError('a published table cannot be changed')
  }
  for (const method of ['set', 'delete', 'clear'])
    Object.defineProperty(map, method, { value: refuse })
  return map
}
