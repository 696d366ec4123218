import { defineMachine } from '../machine.ts'
import { coordinator1 } from './coordinator-1.ts'

/** Revision 1 with the additions that its document recommends. They bring no new pair of states. */
export const coordinator2 = defineMachine({
  id: 'coordinator',
  revision: '2',
  date: '2026-02-17',
  title: 'One task, with provider failures and the end of a discussion as outcomes',
  initial: coordinator1.initial,
  terminal: coordinator1.terminal,
  states: coordinator1.states,
  transitions: [
    ...coordinator1.transitions,
    {
      from: '*',
      event: 'provider_network_error',
      to: 'finalize',
      guard: 'retries are spent',
      action: 'set the outcome and stop',
    },
    {
      from: '*',
      event: 'provider_timeout',
      to: 'finalize',
      guard: 'retries are spent',
      action: 'set the outcome and stop',
    },
    {
      from: '*',
      event: 'provider_auth_error',
      to: 'finalize',
      guard: 'the credentials were refused',
      action: 'set the outcome and stop',
    },
  ],
  outcomes: {
    ...coordinator1.outcomes,
    await_operator_confirm: 'Read from tasks of revision 1 only; now discussion_complete.',
    discussion_complete: 'The proposal is discussed; the operator is to confirm.',
    provider_network_error: 'The model provider could not be reached.',
    provider_timeout: 'The model provider did not answer in time.',
    provider_auth_error: 'The model provider refused the credentials.',
  },
})
