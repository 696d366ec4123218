import { FAILURE, suspendRows } from './suspend.ts'
import { birthState, type MachineTable, statesOf, type Transition } from './table.ts'

/** What can be wrong with a table, worst first. */
export const FINDING_KINDS = {
  'unreachable-state': 'No path from the start leads here.',
  'dead-end': 'Not terminal, and no row leaves it.',
  'no-terminal': 'No terminal state can be reached from here.',
  'no-success': 'From here the machine can end only in failure.',
  'single-exit': 'Whatever happens, there is one state to go to.',
  'no-failure-exit': 'What cannot go on here has no row to the failure state.',
  'no-failure-state': 'The table has no state for failure at all.',
  'ambiguous-event': 'One event leads to several states.',
  'unlabelled-event': 'The document allows the pair and names no cause.',
} as const

type FindingKind = keyof typeof FINDING_KINDS

/** One hole in a table. `subject` is the state, with the event where it is about one. */
export interface Finding {
  readonly kind: FindingKind
  readonly subject: string
  readonly detail: string
}

/** The states that each state leads to, other than itself. */
type Followers = ReadonlyMap<string, ReadonlySet<string>>

/** Finds the holes in a table as its document has it, without the overlay. */
export function audit(table: MachineTable): Finding[] {
  const followers = followersOf(table)
  const order = Object.keys(FINDING_KINDS)
  return [...auditStates(table, followers), ...auditEvents(table)].sort(
    (a, b) => order.indexOf(a.kind) - order.indexOf(b.kind),
  )
}

function auditStates(table: MachineTable, followers: Followers): Finding[] {
  const findings: Finding[] = []
  const report = (kind: FindingKind, subject: string, detail: string) =>
    findings.push({ kind, subject, detail })

  const hasFailureState = FAILURE in table.states
  if (!hasFailureState) report('no-failure-state', 'table', `no row leads to ${FAILURE}`)

  const terminal = new Set(table.terminal)
  const success = new Set(table.terminal.filter((state) => state !== FAILURE))
  const reachable = reachableFrom(startsOf(table), followers, new Set())
  for (const state of statesOf(table)) {
    if (!reachable.has(state)) report('unreachable-state', state, 'no path leads here')
    if (terminal.has(state)) continue

    const exits = [...(followers.get(state) ?? [])]
    const ends = reachableFrom([state], followers, terminal)
    const endsWell = reachableFrom([state], followers, new Set([...terminal, FAILURE]))
    if (exits.length === 0) report('dead-end', state, 'no row leaves it')
    else if (!meets(ends, terminal)) report('no-terminal', state, `never reaches ${[...terminal]}`)
    else if (state !== FAILURE && !meets(endsWell, success))
      report('no-success', state, `never reaches ${[...success]}`)

    if (state === FAILURE) continue
    if (exits.length === 1 && state !== table.initial) {
      report('single-exit', state, `only to ${exits[0]}`)
    } else if (hasFailureState && exits.length > 0 && !exits.includes(FAILURE)) {
      report('no-failure-exit', state, `only to ${exits.join(', ')}`)
    }
  }
  return findings
}

function auditEvents(table: MachineTable): Finding[] {
  const targets = new Map<string, Transition[]>()
  for (const row of writtenOut(table)) {
    const subject = `${row.from} ${row.event}`
    targets.set(subject, [...(targets.get(subject) ?? []), row])
  }
  const ambiguous = [...targets].filter(([, rows]) => rows.length > 1)
  const unlabelled = table.transitions.filter((row) => row.unlabelled || row.event.trim() === '')
  return [
    ...ambiguous.map(([subject, rows]): Finding => {
      const decided = rows.every((row) => row.toOrigin) ? 'the remembered origin' : 'nothing'
      const states = rows.map((row) => row.to).join(', ')
      return { kind: 'ambiguous-event', subject, detail: `to ${states}; ${decided} decides` }
    }),
    ...unlabelled.map(
      (row): Finding => ({
        kind: 'unlabelled-event',
        subject: `${row.from} ${row.event}`.trim(),
        detail: `to ${row.to}, without a label`,
      }),
    ),
  ]
}

/** The rows with `*` as every state, and the overlay's, which a row of the table must not cross. */
function writtenOut(table: MachineTable): Transition[] {
  const rows = table.transitions.flatMap((row) =>
    row.from === '*' ? statesOf(table).map((from) => ({ ...row, from })) : [row],
  )
  const own = new Set(rows.map((row) => `${row.from} ${row.event}`))
  return [...rows, ...suspendRows(table).filter((row) => own.has(`${row.from} ${row.event}`))]
}

function followersOf(table: MachineTable): Followers {
  const followers = new Map<string, Set<string>>(statesOf(table).map((state) => [state, new Set()]))
  for (const row of table.transitions) {
    const sources = row.from === '*' ? statesOf(table) : row.from === null ? [] : [row.from]
    for (const from of sources) if (from !== row.to) followers.get(from)?.add(row.to)
  }
  return followers
}

function startsOf(table: MachineTable): string[] {
  const birth = birthState(table)
  if (birth !== null) return [birth]
  return table.transitions.filter((row) => row.from === null).map((row) => row.to)
}

/** The states on any path from `starts`, those included; a path is not followed beyond `until`. */
function reachableFrom(
  starts: string[],
  followers: Followers,
  until: ReadonlySet<string>,
): Set<string> {
  const seen = new Set(starts)
  for (const state of seen) {
    if (until.has(state)) continue
    for (const next of followers.get(state) ?? []) seen.add(next)
  }
  return seen
}

function meets(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].some((state) => b.has(state))
}
