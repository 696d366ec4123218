import { defineMachine } from '../machine.ts'

export const architectD = defineMachine({
  id: 'architect',
  revision: 'D',
  date: '2025-07-13',
  title: 'Architect that scopes specs and merges while handling requests',
  initial: 'WAITING',
  terminal: ['DONE', 'ERROR'],
  selfLoops: true,
  states: {
    WAITING: 'Idle until a specification arrives.',
    SCOPING: 'Turn the specification into stories with dependencies.',
    DISPATCHING: 'Put every story that is ready on the work queue.',
    MONITORING: 'Watch the coders and wait for their requests.',
    REQUEST: 'Decide a question, a review or a merge.',
    ESCALATED: 'Wait for a human to decide a business question.',
    DONE: 'Every story is complete.',
    ERROR: 'The work was given up or cannot go on.',
  },
  transitions: [
    { from: 'WAITING', event: 'spec_received', to: 'SCOPING' },

    { from: 'SCOPING', event: 'stories_queued', to: 'DISPATCHING' },
    { from: 'SCOPING', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'DISPATCHING', event: 'stories_dispatched', to: 'MONITORING' },
    { from: 'DISPATCHING', event: 'all_stories_completed', to: 'DONE' },

    { from: 'MONITORING', event: 'request_received', to: 'REQUEST' },

    { from: 'REQUEST', event: 'request_answered', to: 'MONITORING' },
    { from: 'REQUEST', event: 'merged', to: 'MONITORING', action: 'release dependent stories' },
    { from: 'REQUEST', event: 'escalated', to: 'ESCALATED' },
    { from: 'REQUEST', event: 'abandoned', to: 'ERROR' },
    { from: 'REQUEST', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'ESCALATED', event: 'human_answered', to: 'REQUEST' },
    { from: 'ESCALATED', event: 'answer_timed_out', to: 'ERROR' },

    { from: 'DONE', event: 'spec_received', to: 'WAITING' },
    { from: 'ERROR', event: 'recovered', to: 'WAITING' },
  ],
})
