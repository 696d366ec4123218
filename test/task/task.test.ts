import { afterAll, expect } from 'vitest'
import { coordinator1 } from '../../src/machines/tables/coordinator-1.ts'
import { coverage } from './coverage.ts'
import { isComplete } from './scenario.ts'
import './scenarios/faults.ts'
import './scenarios/outages.ts'
import './scenarios/rows.ts'
import './scenarios/steering.ts'

/** Every state that a task can be in, from each of which its operator can stop it. */
const STOPPED_IN = Object.keys(coordinator1.states).concat('ERROR', 'SUSPEND').sort()

afterAll(() => {
  const machines = coverage()
  console.table(
    machines.map(({ machine, rows, taken, percent, outcomes, aborted }) => ({
      ...{ machine, rows, taken, percent, outcomes },
      aborted: aborted.join(' '),
    })),
  )
  if (!isComplete()) return
  for (const { missing, missingOutcomes, historical, aborted } of machines) {
    expect(aborted).toEqual(STOPPED_IN)
    expect(missing).toEqual([])
    expect(missingOutcomes).toEqual([])
    expect(historical).toEqual([])
  }
})
