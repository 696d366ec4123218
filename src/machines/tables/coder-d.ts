import { defineMachine } from '../machine.ts'

export const coderD = defineMachine({
  id: 'coder',
  revision: 'D',
  date: '2025-01-20',
  title: 'Coder with the effects pattern',
  initial: 'WAITING',
  terminal: ['DONE', 'ERROR'],
  states: {
    WAITING: 'Idle until a story is assigned.',
    SETUP: 'Prepare the workspace, its branch and its environment.',
    PLANNING: 'Write a plan with the model, reading the code and changing nothing.',
    PLAN_REVIEW: 'The architect judges the plan.',
    CODING: 'Carry out the approved plan.',
    TESTING: 'Run the tests and the format checks.',
    BUDGET_REVIEW: 'The iterations are spent; the architect decides how to go on.',
    CODE_REVIEW: 'The architect judges the code.',
    AWAIT_MERGE: 'The code is approved and waits to be merged.',
    DONE: 'The story is merged, or was found complete.',
    ERROR: 'The story was given up or cannot go on.',
  },
  transitions: [
    { from: 'WAITING', event: 'story_assigned', to: 'SETUP' },
    { from: 'WAITING', event: 'failed_unrecoverably', to: 'ERROR', unlabelled: true },

    { from: 'SETUP', event: 'workspace_ready', to: 'PLANNING' },
    { from: 'SETUP', event: 'setup_failed', to: 'ERROR' },

    { from: 'PLANNING', event: 'plan_submitted', to: 'PLAN_REVIEW' },

    { from: 'PLAN_REVIEW', event: 'review_approved', to: 'CODING' },
    { from: 'PLAN_REVIEW', event: 'review_changes_requested', to: 'PLANNING' },
    { from: 'PLAN_REVIEW', event: 'completion_approved', to: 'DONE' },
    { from: 'PLAN_REVIEW', event: 'abandoned', to: 'ERROR' },

    { from: 'CODING', event: 'code_completed', to: 'TESTING' },
    { from: 'CODING', event: 'budget_exhausted', to: 'BUDGET_REVIEW' },
    { from: 'CODING', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'TESTING', event: 'tests_passed', to: 'CODE_REVIEW' },
    { from: 'TESTING', event: 'tests_failed', to: 'CODING' },

    { from: 'BUDGET_REVIEW', event: 'budget_granted', to: 'CODING' },
    { from: 'BUDGET_REVIEW', event: 'replan_ordered', to: 'PLANNING' },
    { from: 'BUDGET_REVIEW', event: 'abandoned', to: 'ERROR' },

    { from: 'CODE_REVIEW', event: 'review_approved', to: 'AWAIT_MERGE' },
    { from: 'CODE_REVIEW', event: 'review_changes_requested', to: 'CODING' },
    { from: 'CODE_REVIEW', event: 'abandoned', to: 'ERROR' },

    { from: 'AWAIT_MERGE', event: 'merged', to: 'DONE' },
    { from: 'AWAIT_MERGE', event: 'merge_conflicted', to: 'CODING' },
    { from: 'AWAIT_MERGE', event: 'merge_failed', to: 'ERROR' },
  ],
})
