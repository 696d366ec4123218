import type { Machine, StateOf } from './machine.ts'
import type { MachineTable } from './table.ts'

/**
 * The next state, or `undefined` where the table has no such row. `origin` is the state that was
 * left for this one; only rows that return to it look at it. Total and pure: it never throws.
 */
export function step<T extends MachineTable>(
  machine: Machine<T>,
  state: string | null,
  event: string,
  origin?: string,
): StateOf<T> | undefined {
  const target = machine.lookup.get(state)?.get(event)
  if (typeof target !== 'object') return target as StateOf<T> | undefined
  return target.get(origin as string) as StateOf<T> | undefined
}
