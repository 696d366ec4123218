import { afterAll, expect } from 'vitest'
import { coverage } from './coverage.ts'
import { isComplete } from './scenario.ts'
import './scenarios/answers.ts'
import './scenarios/bounds.ts'
import './scenarios/budgets.ts'
import './scenarios/choices.ts'
import './scenarios/confinement.ts'
import './scenarios/delivery.ts'
import './scenarios/escalations.ts'
import './scenarios/outages.ts'
import './scenarios/recovery.ts'
import './scenarios/specs.ts'
import './scenarios/supervision.ts'

afterAll(() => {
  const { table, missing, wrong } = coverage()
  console.table(table)
  expect(wrong).toEqual([])
  if (isComplete()) expect(missing).toEqual([])
})
