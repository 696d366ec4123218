import { defineMachine } from '../machine.ts'

export const story1 = defineMachine({
  id: 'story',
  revision: '1',
  date: '2026-11-15',
  title: 'Story from the plan of the spec to the target branch',
  initial: 'BLOCKED',
  terminal: ['MERGED', 'WAIVED', 'CUT'],
  states: {
    BLOCKED: 'Wait for the stories that it depends on.',
    READY: 'Wait for a coder.',
    ASSIGNED: 'A coder has it.',
    FAILED: 'No attempt succeeded; a human decides.',
    MERGED: 'Its work is on the target, or nothing had to be done.',
    WAIVED: 'The human does without it.',
    CUT: 'The human took it out of the run.',
  },
  transitions: [
    { from: 'BLOCKED', event: 'dependencies_met', to: 'READY' },
    { from: 'BLOCKED', event: 'story_cut', to: 'CUT' },

    { from: 'READY', event: 'story_assigned', to: 'ASSIGNED' },
    { from: 'READY', event: 'story_cut', to: 'CUT' },

    { from: 'ASSIGNED', event: 'merged', to: 'MERGED' },
    { from: 'ASSIGNED', event: 'completion_approved', to: 'MERGED' },
    { from: 'ASSIGNED', event: 'story_requeued', to: 'READY' },
    { from: 'ASSIGNED', event: 'attempts_exhausted', to: 'FAILED' },

    { from: 'FAILED', event: 'story_retried', to: 'READY' },
    { from: 'FAILED', event: 'story_waived', to: 'WAIVED' },
    { from: 'FAILED', event: 'story_cut', to: 'CUT' },
  ],
})
