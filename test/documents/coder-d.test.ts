import { expect, test } from 'vitest'
import { coderD } from '../../src/machines/tables/coder-d.ts'
import { pairsOf, readMatrix } from './matrix.ts'

const DOCUMENT = readMatrix(`
  WAITING:       SETUP ERROR
  SETUP:         PLANNING ERROR
  PLANNING:      PLAN_REVIEW
  PLAN_REVIEW:   PLANNING CODING DONE ERROR
  CODING:        TESTING BUDGET_REVIEW ERROR
  TESTING:       CODING CODE_REVIEW
  BUDGET_REVIEW: PLANNING CODING ERROR
  CODE_REVIEW:   CODING AWAIT_MERGE ERROR
  AWAIT_MERGE:   CODING DONE ERROR
  DONE:
  ERROR:
`)

test('coder@D has the 23 pairs of its document and no other', () => {
  expect(DOCUMENT).toHaveLength(23)
  expect(pairsOf(coderD.transitions)).toEqual(DOCUMENT)
})

test('coder@D has the 11 states, the start and the ends of its document', () => {
  expect(Object.keys(coderD.states)).toEqual(
    'WAITING SETUP PLANNING PLAN_REVIEW CODING TESTING BUDGET_REVIEW CODE_REVIEW AWAIT_MERGE DONE ERROR'.split(
      ' ',
    ),
  )
  expect(coderD).toMatchObject({
    date: '2025-01-20',
    initial: 'WAITING',
    terminal: ['DONE', 'ERROR'],
  })
})
