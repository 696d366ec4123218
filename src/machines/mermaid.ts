import { describeMachine, type TransitionDescription } from './describe.ts'
import type { MachineTable } from './table.ts'

const ANY_STATE = 'any_state'

/** Draws a machine as a Mermaid state diagram; SUSPEND is one note, not an arrow from everywhere. */
export function toMermaid(table: MachineTable): string {
  const { initial, terminal, transitions } = describeMachine(table)
  const own = transitions.filter((row) => !row.overlay)
  return [
    'stateDiagram-v2',
    ...(own.some((row) => row.from === '*') ? [`  state "any state" as ${ANY_STATE}`] : []),
    ...(own.some((row) => row.from === null) ? [] : [`  [*] --> ${initial}`]),
    ...drawArrows(own),
    ...terminal.map((state) => `  ${state} --> [*]`),
    `  note right of ${initial}`,
    '    SUSPEND is entered from every state',
    '    but DONE and ERROR, and returns there',
    '    or goes to ERROR',
    '  end note',
    '',
  ].join('\n')
}

/** One arrow for each pair of states, with all its events. */
function drawArrows(rows: readonly TransitionDescription[]): string[] {
  const labels = new Map<string, string[]>()
  for (const { from, event, to } of rows) {
    const source = from === null ? '[*]' : from === '*' ? ANY_STATE : from
    const arrow = `  ${source} --> ${to}`
    labels.set(arrow, [...(labels.get(arrow) ?? []), event])
  }
  return [...labels].map(([arrow, events]) => `${arrow} : ${events.join('<br/>')}`)
}
