import { defineMachine } from '../machine.ts'

export const mergeQueue1 = defineMachine({
  id: 'merge-queue',
  revision: '1',
  date: '2026-11-15',
  title: 'Merge queue of a run: one reviewed commit after the other',
  initial: 'WAITING',
  terminal: ['WAITING'],
  states: {
    WAITING: 'Nothing is to be merged.',
    MERGING: 'One commit is merged and tested; others wait in line.',
    ERROR: 'The merge could not be done at all, or the forge did not come back in time.',
  },
  transitions: [
    { from: 'WAITING', event: 'merge_started', to: 'MERGING' },
    { from: 'MERGING', event: 'merge_ended', to: 'WAITING' },
    { from: 'MERGING', event: 'merge_failed', to: 'ERROR' },
    { from: 'ERROR', event: 'recovered', to: 'WAITING' },
  ],
})
