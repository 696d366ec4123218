import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MACHINES } from './catalog.ts'
import { EVENTS } from './events.ts'
import type { Machine } from './machine.ts'
import { step } from './step.ts'
import { birthState } from './table.ts'
import { coderF } from './tables/coder-f.ts'

const WALKS = 10_000
const WALK_STEPS = 40

/** Written from the rules, not from the lookup: the rows, `*` for every state, and SUSPEND. */
function isInTable(machine: Machine, from: string | null, event: string, to: string): boolean {
  const sleeps = (state: string | null) => state !== null && !['DONE', 'ERROR'].includes(state)
  return (
    machine.transitions.some(
      (row) =>
        (row.from === from || (row.from === '*' && from !== null)) &&
        row.event === event &&
        row.to === to,
    ) ||
    (event === 'service_unavailable' && sleeps(from) && from !== 'SUSPEND' && to === 'SUSPEND') ||
    (event === 'service_restored' && from === 'SUSPEND' && sleeps(to) && to in machine.states) ||
    (/^(suspension_timed_out|channel_closed)$/.test(event) && from === 'SUSPEND' && to === 'ERROR')
  )
}

const NAMES = [...Object.keys(EVENTS), '', '__proto__', 'constructor', 'toString']

/** Two choices of three are a row that leaves the state, so that walks get far; the rest are any name. */
function chooseEvent(machine: Machine, state: string | null, choice: number): string {
  const rows = machine.transitions.filter((row) => row.from === state || row.from === '*')
  const names = choice % 3 === 0 ? NAMES : [...rows.map((row) => row.event), 'service_restored']
  return names[Math.floor(choice / 3) % names.length] ?? ''
}

describe.each(MACHINES)('$name', (machine) => {
  test(`${WALKS} random walks only take rows of the table, and between them all rows`, () => {
    const states = Object.keys(machine.states)
    const taken = new Set<string>()
    const walk = fc.array(fc.nat(), { minLength: WALK_STEPS / 2, maxLength: WALK_STEPS })
    fc.assert(
      fc.property(walk, (choices) => {
        let state = birthState(machine)
        for (const choice of choices) {
          const event = chooseEvent(machine, state, choice)
          const next = step(
            machine,
            state,
            event,
            states[Math.floor(choice / 1000) % states.length],
          )
          if (next === undefined) continue
          if (!isInTable(machine, state, event, next)) throw new Error(`${state} ${event} ${next}`)
          taken.add(`${state} ${event} ${next}`)
          state = next
        }
      }),
      { numRuns: WALKS },
    )
    for (const { from, event, to } of machine.transitions) {
      const sources = from === '*' ? states : [from]
      for (const source of sources) expect(taken).toContain(`${source} ${event} ${to}`)
    }
  })

  test('takes every row of the table', () => {
    for (const { from, event, to, toOrigin } of machine.transitions) {
      const state = from === '*' ? machine.initial : from
      expect(step(machine, state, event, toOrigin && to)).toBe(to)
    }
  })

  test('is total: whatever it is given, it answers and does not throw', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.constantFrom(...NAMES, ...Object.keys(machine.states)),
    )
    fc.assert(
      fc.property(fc.option(anything), anything, fc.option(anything), (state, event, origin) => {
        const next = step(machine, state, event, origin ?? undefined)
        expect(next === undefined || isInTable(machine, state, event, next)).toBe(true)
      }),
    )
  })
})

test('a row that returns to the origin needs the origin, and only that one', () => {
  expect(step(coderF, 'BUDGET_REVIEW', 'budget_granted', 'FIXING')).toBe('FIXING')
  expect(step(coderF, 'BUDGET_REVIEW', 'budget_granted', 'TESTING')).toBeUndefined()
  expect(step(coderF, 'BUDGET_REVIEW', 'budget_granted')).toBeUndefined()
})
