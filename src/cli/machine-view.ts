import { audit } from '../machines/audit.ts'
import { isDefault, MACHINES } from '../machines/catalog.ts'
import { describeMachine, type MachineDescription } from '../machines/describe.ts'
import type { Machine } from '../machines/machine.ts'
import { remedyFor } from '../machines/remedies.ts'
import { statesOf } from '../machines/table.ts'
import { layOut } from './columns.ts'
import type { Style } from './style.ts'

const SUSPENSION =
  'service_unavailable leads here from every state but DONE and ERROR; service_restored leads back; suspension_timed_out and channel_closed lead to ERROR.'

/** How the views are drawn: with which styles and how wide. */
export interface Canvas {
  readonly style: Style
  readonly width: number
}

/** One line for each machine. */
export function drawList({ style, width }: Canvas): string {
  const header = ['MACHINE', 'DATE', 'STATES', 'ROWS', 'FINDINGS', 'WHAT IT IS']
  const rows = MACHINES.map((machine) => [
    machine.name + (isDefault(machine) ? ' *' : ''),
    machine.date,
    String(statesOf(machine).length),
    String(machine.transitions.length),
    String(audit(machine).length),
    machine.title,
  ])
  const hint =
    '* runs unless another revision is configured. `slipway machines coder@F` draws one; --audit lists the findings.'
  const list = layOut([header, ...rows], width, [style.bold])
  return `${list}\n\n${layOut([[hint]], width, [style.dim])}`
}

/** One machine: who may follow whom, its states and its rows. */
export function drawMachine(machine: Machine, { style, width }: Canvas): string {
  const description = describeMachine(machine)
  const own = description.transitions.filter((row) => !row.overlay)
  const section = (title: string, body: string) => `${style.bold(title)}\n${body}`
  return [
    [
      style.bold(machine.name),
      layOut([[machine.title]], width),
      layOut([[summary(machine)]], width, [style.dim]),
    ].join('\n'),
    section('WHO MAY FOLLOW WHOM', drawMatrix(description, style)),
    section(
      'STATES',
      layOut(
        description.states.map(({ name, purpose }) => [name, purpose]),
        width,
      ),
    ),
    section(
      'TRANSITIONS',
      layOut(
        own.map(({ from, event, to, guard, action }) => [
          String(from),
          event,
          `→\u00a0${to}`,
          [guard, action].filter((part) => part !== undefined).join('; '),
        ]),
        width,
        [style.good, (text) => text, style.good, style.dim],
      ),
    ),
    section('SUSPEND', layOut([[SUSPENSION]], width)),
    findingsHint(machine),
  ].join('\n\n')
}

/** What the audit found in each machine, and what is done about it. */
export function drawFindings(machines: readonly Machine[], { style, width }: Canvas): string {
  return machines
    .map((machine) => {
      const found = audit(machine)
      if (found.length === 0) return `${style.bold(machine.name)}  ${style.good('no findings')}`
      const rows = found.map((finding) => [
        finding.kind,
        finding.subject,
        finding.detail,
        remedyFor(machine, finding) ?? '',
      ])
      return `${style.bold(machine.name)}\n${layOut(rows, width, [style.warn])}`
    })
    .join('\n\n')
}

function summary(machine: Machine): string {
  return [
    machine.date,
    `starts in ${machine.initial}`,
    `terminal ${machine.terminal.join(', ')}`,
    machine.selfLoops ? 'every state may follow itself' : 'no self-loops',
  ].join(' · ')
}

function findingsHint(machine: Machine): string {
  const count = audit(machine).length
  if (count === 0) return 'The audit finds nothing.'
  const noun = count === 1 ? 'finding' : 'findings'
  return `${count} ${noun}: slipway machines ${machine.name} --audit`
}

/** Who may follow whom, columns numbered like rows. A row of `*` is marked apart. */
function drawMatrix({ states, transitions }: MachineDescription, style: Style): string {
  const own = states.filter((state) => !state.overlay).map((state) => state.name)
  const pairs = new Set(transitions.map((row) => `${row.from} ${row.to}`))
  const number = (index: number) => String(index + 1).padStart(2)
  const nameWidth = Math.max(...own.map((name) => name.length))
  const head = `${' '.repeat(nameWidth + 4)}${own.map((_, column) => number(column)).join(' ')}`
  const lines = own.map((from, row) => {
    const cells = own.map((to) => {
      if (pairs.has(`${from} ${to}`)) return style.good(' ●')
      return pairs.has(`* ${to}`) ? style.warn(' ○') : style.dim(' ·')
    })
    return `${number(row)}  ${from.padEnd(nameWidth)}${cells.join(' ')}`
  })
  const legend = transitions.some((row) => row.from === '*') ? [style.dim('○ from any state')] : []
  return [style.dim(head), ...lines, ...legend].join('\n')
}
