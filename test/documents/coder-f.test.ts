import { expect, test } from 'vitest'
import { coderF } from '../../src/machines/tables/coder-f.ts'
import { pairsOf, readMatrix } from './matrix.ts'

const DOCUMENT = readMatrix(`
  WAITING:       SETUP
  SETUP:         PLANNING ERROR
  PLANNING:      PLAN_REVIEW BUDGET_REVIEW QUESTION DONE
  PLAN_REVIEW:   PLANNING CODING ERROR
  CODING:        TESTING BUDGET_REVIEW QUESTION ERROR
  TESTING:       FIXING CODE_REVIEW
  FIXING:        TESTING BUDGET_REVIEW QUESTION ERROR
  CODE_REVIEW:   FIXING AWAIT_MERGE ERROR
  BUDGET_REVIEW: PLANNING CODING FIXING CODE_REVIEW ERROR
  AWAIT_MERGE:   FIXING DONE
  QUESTION:      PLANNING CODING FIXING ERROR
  DONE:
  ERROR:         DONE
`)

test('coder@F has the 35 pairs of its document and no other', () => {
  expect(DOCUMENT).toHaveLength(35)
  expect(pairsOf(coderF.transitions)).toEqual(DOCUMENT)
})

test('coder@F has the 13 states, the start and the end of its document', () => {
  expect(Object.keys(coderF.states).sort()).toEqual(
    'AWAIT_MERGE BUDGET_REVIEW CODE_REVIEW CODING DONE ERROR FIXING PLANNING PLAN_REVIEW QUESTION SETUP TESTING WAITING'.split(
      ' ',
    ),
  )
  expect(coderF).toMatchObject({ date: '2025-07-18', initial: 'WAITING', terminal: ['DONE'] })
})
