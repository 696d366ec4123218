import { defineMachine } from '../machine.ts'

export const architectI = defineMachine({
  id: 'architect',
  revision: 'I',
  date: '2025-12-20',
  title: 'Architect that takes specs from a PM and prepares its workspace first',
  initial: 'WAITING',
  terminal: ['DONE', 'ERROR'],
  selfLoops: true,
  states: {
    WAITING: 'Idle until a request arrives: a spec review, a question or an approval.',
    SETUP: 'Make sure the workspace is cloned from the mirror and up to date.',
    DISPATCHING: 'Put every story that is ready on the work queue.',
    MONITORING: 'Watch the coders and wait for their requests.',
    REQUEST: 'Decide a spec review, a question, an approval or a merge.',
    ESCALATED: 'Wait for a human to decide a business question.',
    DONE: 'Every story is complete.',
    ERROR: 'The work was given up or cannot go on.',
  },
  transitions: [
    { from: 'WAITING', event: 'request_received', to: 'SETUP' },
    { from: 'WAITING', event: 'channel_closed', to: 'ERROR' },

    { from: 'SETUP', event: 'workspace_ready', to: 'REQUEST' },
    { from: 'SETUP', event: 'setup_failed', to: 'ERROR' },

    { from: 'DISPATCHING', event: 'stories_dispatched', to: 'MONITORING' },
    { from: 'DISPATCHING', event: 'all_stories_completed', to: 'DONE' },

    { from: 'MONITORING', event: 'request_received', to: 'REQUEST' },
    { from: 'MONITORING', event: 'channel_closed', to: 'ERROR' },

    { from: 'REQUEST', event: 'returned_to_idle', to: 'WAITING', guard: 'no spec under way' },
    { from: 'REQUEST', event: 'request_answered', to: 'MONITORING', guard: 'a spec under way' },
    { from: 'REQUEST', event: 'spec_approved', to: 'DISPATCHING', action: 'load the stories' },
    {
      from: 'REQUEST',
      event: 'merged',
      to: 'DISPATCHING',
      action: 'release dependent stories, update the mirror',
    },
    { from: 'REQUEST', event: 'escalated', to: 'ESCALATED' },
    { from: 'REQUEST', event: 'abandoned', to: 'ERROR' },
    { from: 'REQUEST', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'ESCALATED', event: 'human_answered', to: 'REQUEST' },
    { from: 'ESCALATED', event: 'answer_timed_out', to: 'ERROR' },

    { from: 'DONE', event: 'spec_received', to: 'WAITING' },
    { from: 'ERROR', event: 'recovered', to: 'WAITING' },
  ],
})
