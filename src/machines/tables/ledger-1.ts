import { defineMachine } from '../machine.ts'

export const ledger1 = defineMachine({
  id: 'ledger',
  revision: '1',
  date: '2026-11-15',
  title: 'Ledger of a run: reserves before a call of a model and settles after it',
  initial: 'OPEN',
  terminal: ['OPEN', 'SPENT'],
  states: {
    OPEN: 'Reserve what calls may cost, and settle what they did cost.',
    SPENT: "A call was refused because of the run's limits; a human may raise them.",
  },
  transitions: [
    { from: 'OPEN', event: 'budget_exhausted', to: 'SPENT' },
    { from: 'SPENT', event: 'budget_granted', to: 'OPEN' },
  ],
})
