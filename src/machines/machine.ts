import { buildLookup, type Lookup } from './lookup.ts'
import type { FAILURE, SUSPEND, SuspendMove } from './suspend.ts'
import type { MachineTable } from './table.ts'

/** A table with the lookup that `step` uses, the SUSPEND overlay included. */
export type Machine<T extends MachineTable = MachineTable> = T & {
  readonly name: string
  readonly lookup: Lookup
  /** The states that return to the state they were entered from. */
  readonly returning: readonly string[]
}

/** The states of a machine, with those that the overlay adds. */
export type StateOf<T extends MachineTable> = OwnState<T> | typeof SUSPEND | typeof FAILURE

/** The rows that leave state `S`: all that a behaviour of `S` may answer with to change state. */
export type Move<T extends MachineTable, S extends StateOf<T> | null> =
  | RowMove<T['transitions'][number], S>
  | SuspendMove<OwnState<T>, S>

/** The states that may follow `S`. */
export type NextState<T extends MachineTable, S extends StateOf<T> | null> =
  | Move<T, S>['to']
  | (T extends { selfLoops: true } ? S : never)

type OwnState<T extends MachineTable> = keyof T['states'] & string

/** `*` stands for every state of the machine, so not for `null`, which is before the first. */
type RowMove<Row, S> = Row extends { from: infer From; event: infer Event; to: infer To }
  ? From extends S | (S extends null ? never : '*')
    ? { readonly event: Event; readonly to: To }
    : never
  : never

/** Turns a table into a machine. A table that names a state it does not declare does not compile. */
export function defineMachine<const T extends MachineTable>(
  table: T & MachineTable<OwnState<T>>,
): Machine<T> {
  return freezeDeeply({
    ...(table as T),
    name: `${table.id}@${table.revision}`,
    lookup: buildLookup(table),
    returning: returningStates(table),
  })
}

function returningStates(table: MachineTable): string[] {
  const rows = table.transitions.filter((row) => row.toOrigin)
  return [...new Set(rows.flatMap(({ from }) => from ?? []))]
}

function freezeDeeply<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (part !== null && typeof part === 'object' && !(part instanceof Map)) freezeDeeply(part)
  }
  return Object.freeze(value)
}
