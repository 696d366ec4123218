import type { EventName } from './events.ts'

/** One row of a table, as the machine's document has it. */
export interface Transition<State extends string = string> {
  /** `null` starts a run; `*` stands for every state. */
  readonly from: State | '*' | null
  readonly event: EventName
  readonly to: State
  readonly guard?: string
  readonly action?: string
  /** Taken only when `to` is the state that was left for `from`. */
  readonly toOrigin?: true
  /** The document allows the pair and names no cause for it. */
  readonly unlabelled?: true
}

/** A machine as data. Published tables never change; a change is a new revision. */
export interface MachineTable<State extends string = string> {
  readonly id: string
  readonly revision: string
  readonly date: string
  readonly title: string
  readonly initial: State
  readonly terminal: readonly State[]
  /** Each state's purpose, in the order in which documents list them. */
  readonly states: Readonly<Record<State, string>>
  readonly transitions: readonly Transition<State>[]
  /** The document declares that a state may always follow itself. */
  readonly selfLoops?: true
  /** How a run can end, where the document names more ways than it has terminal states. */
  readonly outcomes?: Readonly<Record<string, string>>
}

/** The states that the table itself declares, in its order. */
export function statesOf(table: MachineTable): string[] {
  return Object.keys(table.states)
}

/** The state an agent is created in: `null` where a row starts the run, else the initial state. */
export function birthState(table: MachineTable): string | null {
  return table.transitions.some((row) => row.from === null) ? null : table.initial
}
