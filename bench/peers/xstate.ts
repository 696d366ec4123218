import { createMachine, initialTransition, transition } from 'xstate'
import manifest from 'xstate/package.json' with { type: 'json' }
import type { Machine } from '../../src/machines/machine.ts'
import { FAILURE } from '../../src/machines/suspend.ts'
import type { Hop } from '../cases/step.ts'
import type { Subject } from '../rate.ts'

export const xstateVersion: string = manifest.version

const BEFORE_START = '(start)'

interface XStateRow {
  readonly target: string
  readonly guard?: (scope: { event: { origin?: string } }) => boolean
}

/** Takes the walk with XState's pure `transition()`, on the same machine with the same guards. */
export function xstateWalker(machine: Machine, walk: readonly Hop[]): Subject {
  const states = [...machine.lookup].map(([state, events]) => {
    const on = [...events].map(([type, target]): [string, XStateRow[]] => [
      type,
      typeof target === 'string'
        ? [{ target }]
        : [...target.values()].map((to) => ({
            target: to,
            guard: ({ event }) => event.origin === to,
          })),
    ])
    return [state ?? BEFORE_START, { on: Object.fromEntries(on) }]
  })
  const ends = [...Object.keys(machine.states), FAILURE].map((state) => [state, {}])
  const initial = machine.lookup.has(null) ? BEFORE_START : machine.initial
  const logic = createMachine({
    initial,
    states: Object.fromEntries([...ends, ...states]),
  })
  const [start] = initialTransition(logic)
  const hops = walk.map((hop) => ({
    from: hop.state ?? BEFORE_START,
    event: { type: hop.event, origin: hop.origin },
    to: hop.to,
  }))
  return () => {
    let snapshot = start
    for (const hop of hops) {
      if (hop.from !== snapshot.value) snapshot = start
      ;[snapshot] = transition(logic, snapshot, hop.event)
      if (snapshot.value !== hop.to) throw new Error(`${hop.from} led to ${snapshot.value}`)
    }
  }
}
