import { defineMachine } from '../machine.ts'

export const dispatcher1 = defineMachine({
  id: 'dispatcher',
  revision: '1',
  date: '2026-11-15',
  title: 'Dispatcher of a run: brings ready stories to coders and requests to architects',
  initial: 'OPEN',
  terminal: ['CLOSED'],
  states: {
    OPEN: 'Hand out stories and requests as soon as somebody is free for them.',
    CLOSED: 'No story is left.',
  },
  transitions: [
    { from: 'OPEN', event: 'all_stories_completed', to: 'CLOSED' },
    { from: 'CLOSED', event: 'stories_queued', to: 'OPEN' },
  ],
})
