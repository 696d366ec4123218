import { MACHINES } from '../../src/machines/catalog.ts'
import type { Machine } from '../../src/machines/machine.ts'
import { step } from '../../src/machines/step.ts'
import { birthState } from '../../src/machines/table.ts'
import { medianRates, type Subject } from '../rate.ts'
import { atLeast, type BenchmarkCase, type Effort, type Measurements } from '../report.ts'

const GOAL_TIMES_XSTATE = 100
const WALK_STEPS = 1_000

/** One step of a walk: the event that leaves `state`, and where it leads. */
export interface Hop {
  readonly state: string | null
  readonly event: string
  readonly origin: string
  readonly to: string
}

/** Lookups per second on a walk through each machine, beside XState on the same machine and walk. */
export const stepLookup: BenchmarkCase = {
  summary: 'transitions per second of each machine, beside XState 5',
  measure,
}

async function measure({ quick }: Effort): Promise<Measurements> {
  const { xstateWalker, xstateVersion } = await import('../peers/xstate.ts')
  const rows = []
  const goals = []
  for (const machine of MACHINES) {
    const walk = planWalk(machine)
    const subjects = { slipway: slipwayWalker(machine, walk), xstate: xstateWalker(machine, walk) }
    const rates = medianRates(subjects, walk.length, quick ? 20 : 500)
    for (const [name, value] of Object.entries(rates)) {
      rows.push({ subject: `${machine.name} ${name}`, metric: 'transitions', value, unit: '1/s' })
    }
    const times = rates.slipway / rates.xstate
    goals.push(atLeast(`${machine.name}, times XState`, GOAL_TIMES_XSTATE, times))
  }
  return { rows, goals, versions: { xstate: xstateVersion } }
}

/** A walk that takes each possible step in turn; where there is none, it starts again. */
function planWalk(machine: Machine): Hop[] {
  const turns = new Map<string | null, number>()
  const walk: Hop[] = []
  let state = birthState(machine)
  while (walk.length < WALK_STEPS) {
    const exits = exitsOf(machine, state)
    const turn = turns.get(state) ?? 0
    turns.set(state, turn + 1)
    const hop = exits[turn % Math.max(1, exits.length)]
    if (hop !== undefined) walk.push(hop)
    state = hop === undefined ? birthState(machine) : hop.to
  }
  return walk
}

function exitsOf(machine: Machine, state: string | null): Hop[] {
  const events = [...(machine.lookup.get(state) ?? [])]
  return events.flatMap(([event, target]) =>
    typeof target === 'string'
      ? [{ state, event, origin: '', to: target }]
      : [...target.values()].map((to) => ({ state, event, origin: to, to })),
  )
}

function slipwayWalker(machine: Machine, walk: readonly Hop[]): Subject {
  const birth = birthState(machine)
  return () => {
    let state: string | null = null
    for (const hop of walk) {
      if (hop.state !== state) state = birth
      state = step(machine, state, hop.event, hop.origin) ?? null
      if (state !== hop.to) throw new Error(`${hop.state} ${hop.event} led to ${state}`)
    }
  }
}
