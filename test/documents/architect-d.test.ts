import { expect, test } from 'vitest'
import { architectD } from '../../src/machines/tables/architect-d.ts'
import { pairsOf, readMatrix } from './matrix.ts'

const DOCUMENT = readMatrix(`
  WAITING:     SCOPING
  SCOPING:     DISPATCHING ERROR
  DISPATCHING: MONITORING DONE
  MONITORING:  REQUEST
  REQUEST:     MONITORING ESCALATED ERROR
  ESCALATED:   REQUEST ERROR
  DONE:        WAITING
  ERROR:       WAITING
`)

test('architect@D has the 13 pairs of its document and no other', () => {
  expect(DOCUMENT).toHaveLength(13)
  expect(pairsOf(architectD.transitions)).toEqual(DOCUMENT)
})

test('architect@D has the 8 states of its document, where a state may follow itself', () => {
  expect(Object.keys(architectD.states)).toEqual(
    'WAITING SCOPING DISPATCHING MONITORING REQUEST ESCALATED DONE ERROR'.split(' '),
  )
  expect(architectD).toMatchObject({ date: '2025-07-13', initial: 'WAITING', selfLoops: true })
})
