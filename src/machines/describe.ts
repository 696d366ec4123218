import { OVERLAY_STATES, suspendRows } from './suspend.ts'
import { type MachineTable, statesOf, type Transition } from './table.ts'

/** A machine as `slipway machines --json` prints it, overlay included. */
export interface MachineDescription {
  readonly id: string
  readonly revision: string
  readonly date: string
  readonly title: string
  readonly initial: string
  readonly terminal: readonly string[]
  readonly selfLoops?: true
  readonly states: readonly StateDescription[]
  readonly transitions: readonly TransitionDescription[]
  readonly outcomes?: readonly string[]
}

interface StateDescription {
  readonly name: string
  readonly purpose: string
  readonly overlay?: true
}

export interface TransitionDescription {
  readonly from: string | null
  readonly event: string
  readonly to: string
  readonly guard?: string
  readonly action?: string
  readonly overlay?: true
}

/** Describes a machine in plain data. `null` and `*` stay as the document has them. */
export function describeMachine(table: MachineTable): MachineDescription {
  const own = statesOf(table)
  const added = Object.entries(OVERLAY_STATES).filter(([name]) => !own.includes(name))
  return {
    id: table.id,
    revision: table.revision,
    date: table.date,
    title: table.title,
    initial: table.initial,
    terminal: table.terminal,
    ...(table.selfLoops && { selfLoops: true }),
    states: [
      ...Object.entries(table.states).map(([name, purpose]) => ({ name, purpose })),
      ...added.map(([name, purpose]) => ({ name, purpose, overlay: true as const })),
    ],
    transitions: [
      ...table.transitions.map(describeRow),
      ...suspendRows(table).map((row) => ({ ...describeRow(row), overlay: true as const })),
    ],
    ...(table.outcomes && { outcomes: Object.keys(table.outcomes) }),
  }
}

function describeRow(row: Transition): TransitionDescription {
  const guard = row.toOrigin ? `came from ${row.to}` : row.guard
  return {
    from: row.from,
    event: row.event,
    to: row.to,
    ...(guard !== undefined && { guard }),
    ...(row.action !== undefined && { action: row.action }),
  }
}
