import { COORDINATOR_REVISIONS } from '../../src/agents/coordinator/coordinator-revision.ts'
import { taskWorkOf } from '../../src/agents/coordinator/task-work.ts'
import type { AgentRecord, StoredRow } from '../../src/runtime/records.ts'

interface Taken {
  readonly rows: Set<string>
  readonly outcomes: Set<string>
  /** Where rows that hold in every state were taken from. */
  readonly wild: Map<string, Set<string>>
}

const taken = new Map<string, Taken>()

/** Remembers which rows and outcomes of a coordinator's table a journal shows. */
export function recordCoverage(agents: readonly AgentRecord[], rows: readonly StoredRow[]): void {
  const agent = agents.find(({ role }) => role.startsWith('coordinator@'))
  if (agent === undefined) return
  const known = taken.get(agent.machine) ?? {
    rows: new Set(),
    outcomes: new Set(),
    wild: new Map(),
  }
  taken.set(agent.machine, known)
  for (const { kind, agentId, from, move, to, body } of rows) {
    if (agentId !== agent.id || kind !== 'moved') continue
    known.rows.add(`${from} ${move} ${to}`)
    const states = known.wild.get(String(move)) ?? new Set()
    known.wild.set(String(move), states.add(String(from)))
    if (typeof body.set?.outcome === 'string') known.outcomes.add(body.set.outcome)
  }
  const { outcome } = taskWorkOf(agent)
  if (outcome !== null) known.outcomes.add(outcome)
}

/** Outcomes that are read from older tasks and never produced. */
const HISTORICAL: Readonly<Record<string, readonly string[]>> = {
  'coordinator@1': ['proposal_changes_requested'],
  'coordinator@2': ['proposal_changes_requested', 'await_operator_confirm'],
}

/** What of each revision's table the journals show. */
export function coverage() {
  return Object.values(COORDINATOR_REVISIONS).map(({ machine }) => {
    const { rows, outcomes, wild } = taken.get(machine.name) ?? {
      rows: new Set<string>(),
      outcomes: new Set<string>(),
      wild: new Map<string, Set<string>>(),
    }
    const isTaken = ({ from, event, to }: (typeof machine.transitions)[number]) =>
      from === '*' ? wild.has(event) : rows.has(`${from} ${event} ${to}`)
    const missing = machine.transitions.filter((row) => !isTaken(row))
    const due = Object.keys(machine.outcomes).filter(
      (outcome) => !HISTORICAL[machine.name]?.includes(outcome),
    )
    return {
      machine: machine.name,
      rows: machine.transitions.length,
      taken: machine.transitions.length - missing.length,
      percent: (100 * (machine.transitions.length - missing.length)) / machine.transitions.length,
      outcomes: `${due.filter((each) => outcomes.has(each)).length} of ${due.length}`,
      aborted: [...(wild.get('aborted_by_operator') ?? [])].sort(),
      missing: missing.map(({ from, event, to }) => `${from} ${event} ${to}`),
      missingOutcomes: due.filter((each) => !outcomes.has(each)),
      historical: [...outcomes].filter((each) => HISTORICAL[machine.name]?.includes(each)),
    }
  })
}
