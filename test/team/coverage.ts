import { MACHINES } from '../../src/machines/catalog.ts'
import { describeMachine, type TransitionDescription } from '../../src/machines/describe.ts'
import type { AgentRecord, StoredRow } from '../../src/runtime/records.ts'

/** The states in which agents of a machine ask a service for something, and so can be suspended. */
const ASKS_SERVICES: Readonly<Record<string, readonly string[]>> = {
  'coder@D': ['SETUP', 'PLANNING', 'CODING', 'TESTING', 'AWAIT_MERGE'],
  'coder@F': ['SETUP', 'PLANNING', 'CODING', 'TESTING', 'FIXING', 'AWAIT_MERGE'],
  'architect@D': ['SCOPING', 'REQUEST'],
  'architect@I': ['SETUP', 'REQUEST'],
  'pm@1': ['INTERVIEWING', 'DRAFTING', 'REVISING'],
  'merge-queue@1': ['MERGING'],
  'story@1': [],
  'dispatcher@1': [],
  'ledger@1': [],
}

/** Why a row of the overlay is never taken; undefined for one that has to be. */
function excuseOf(machine: string, { from, event, to }: TransitionDescription): string | undefined {
  const asking = ASKS_SERVICES[machine] ?? []
  if (asking.length === 0) return 'such an agent asks no service for anything'
  const state = event === 'service_unavailable' ? from : event === 'service_restored' ? to : null
  if (state !== null && !asking.includes(state)) return 'no service is asked there'
  if (event === 'channel_closed') {
    return 'a stop is persisted and a crash loses nothing, so nobody cuts a suspended agent off'
  }
  return undefined
}

const taken = new Set<string>()
const keyOf = (machine: string, from: string | null, event: string | null, to: string | null) =>
  `${machine}: ${from} ${event} ${to}`

/** Remembers which rows of the tables a run took. */
export function recordCoverage(agents: readonly AgentRecord[], rows: readonly StoredRow[]): void {
  const machines = new Map(agents.map(({ id, machine }) => [id, machine]))
  for (const { kind, agentId, from, move, to } of rows) {
    if (kind === 'moved') taken.add(keyOf(machines.get(agentId) ?? '', from, move, to))
  }
}

/** How many rows of each machine were taken, and which were not though they can be. */
export function coverage() {
  const machines = MACHINES.filter(({ name }) => name in ASKS_SERVICES).map((machine) => {
    const rows = describeMachine(machine).transitions.map((row) => ({
      key: keyOf(machine.name, row.from, row.event, row.to),
      excuse: row.overlay ? excuseOf(machine.name, row) : undefined,
    }))
    const due = rows.filter(({ excuse }) => excuse === undefined)
    const missing = due.filter(({ key }) => !taken.has(key))
    const wrong = rows.filter(({ key, excuse }) => excuse !== undefined && taken.has(key))
    const share = (100 * (due.length - missing.length)) / due.length
    return {
      machine: machine.name,
      rows: due.length,
      taken: due.length - missing.length,
      percent: Math.floor(share * 10) / 10,
      excused: rows.length - due.length,
      missing: missing.map(({ key }) => key),
      wrong: wrong.map(({ key }) => key),
    }
  })
  return {
    table: machines.map(({ missing: _, wrong: __, ...shown }) => shown),
    missing: machines.flatMap(({ missing }) => missing),
    /** Rows that were taken although we say that they cannot be. */
    wrong: machines.flatMap(({ wrong }) => wrong),
  }
}
