import { afterAll, expect } from 'vitest'
import { coverage } from './coverage.ts'
import { isComplete } from './scenario.ts'
import './scenarios/faults.ts'
import './scenarios/outages.ts'
import './scenarios/rows.ts'
import './scenarios/steering.ts'

afterAll(() => {
  const machines = coverage()
  console.table(machines.map(({ missing: _, missingOutcomes: __, historical: ___, ...row }) => row))
  if (!isComplete()) return
  for (const { missing, missingOutcomes, historical } of machines) {
    expect(missing).toEqual([])
    expect(missingOutcomes).toEqual([])
    expect(historical).toEqual([])
  }
})
