import { expect, test } from 'vitest'
import { step } from '../../src/machines/step.ts'
import { architectD } from '../../src/machines/tables/architect-d.ts'
import { architectI } from '../../src/machines/tables/architect-i.ts'
import { pairsOf, readMatrix } from './matrix.ts'

const DOCUMENT = readMatrix(`
  WAITING:     SETUP ERROR
  SETUP:       REQUEST ERROR
  DISPATCHING: MONITORING DONE
  MONITORING:  REQUEST ERROR
  REQUEST:     WAITING MONITORING DISPATCHING ESCALATED ERROR
  ESCALATED:   REQUEST ERROR
  DONE:        WAITING
  ERROR:       WAITING
`)

test('architect@I has the 17 pairs of its document and no other', () => {
  expect(DOCUMENT).toHaveLength(17)
  expect(pairsOf(architectI.transitions)).toEqual(DOCUMENT)
})

test('architect@I has the 8 states of its document, where a state may follow itself', () => {
  expect(Object.keys(architectI.states)).toEqual(
    'WAITING SETUP DISPATCHING MONITORING REQUEST ESCALATED DONE ERROR'.split(' '),
  )
  expect(architectI).toMatchObject({ date: '2025-12-20', initial: 'WAITING', selfLoops: true })
})

test('a merge leads to DISPATCHING in revision I and to MONITORING in revision D', () => {
  expect(step(architectI, 'REQUEST', 'merged')).toBe('DISPATCHING')
  expect(step(architectD, 'REQUEST', 'merged')).toBe('MONITORING')
})
