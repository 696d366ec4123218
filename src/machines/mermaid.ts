import { describeMachine, type TransitionDescription } from './describe.ts'
import type { MachineTable } from './table.ts'

/** Draws a machine as a Mermaid state diagram; SUSPEND is one note, not an arrow from everywhere. */
export function toMermaid(table: MachineTable): string {
  const { initial, terminal, transitions } = describeMachine(table)
  const own = transitions.filter((row) => !row.overlay)
  const starts = own.filter((row) => row.from === null)
  return [
    'stateDiagram-v2',
    ...(starts.length > 0 ? starts.map(arrow) : [`  [*] --> ${initial}`]),
    ...own.filter((row) => row.from !== null && row.from !== '*').map(arrow),
    ...own.filter((row) => row.from === '*').map(arrow),
    ...terminal.map((state) => `  ${state} --> [*]`),
    ...(own.some((row) => row.from === '*') ? ['  state "any state" as any'] : []),
    `  note right of ${initial}`,
    '    SUSPEND is entered from every state',
    '    but DONE and ERROR, and returns there',
    '    or goes to ERROR',
    '  end note',
    '',
  ].join('\n')
}

function arrow({ from, event, to, guard }: TransitionDescription): string {
  const source = from === null ? '[*]' : from === '*' ? 'any' : from
  const label = guard?.startsWith('came from') ? `${event} (${guard})` : event
  return `  ${source} --> ${to} : ${label}`
}
