import { defineMachine } from '../machine.ts'

export const coderF = defineMachine({
  id: 'coder',
  revision: 'F',
  date: '2025-07-18',
  title: 'Coder with questions, fixing, budgets and restart',
  initial: 'WAITING',
  terminal: ['DONE'],
  states: {
    WAITING: 'Idle until a story is assigned.',
    SETUP: "Prepare the workspace and the story's branch.",
    PLANNING: 'Write a plan, reading the code and changing nothing.',
    PLAN_REVIEW: 'The architect judges the plan.',
    CODING: 'Carry out the approved plan.',
    TESTING: 'Run the tests.',
    FIXING: 'Mend what tests, a review or a merge conflict showed.',
    CODE_REVIEW: 'The architect judges the code.',
    BUDGET_REVIEW: 'An iteration budget is spent; the architect decides how to go on.',
    AWAIT_MERGE: 'The code is approved and waits for the architect to merge it.',
    QUESTION: 'Wait for an answer from outside.',
    DONE: 'The agent has ended; the orchestrator replaces it.',
    ERROR: 'The story was given up or cannot go on.',
  },
  transitions: [
    { from: 'WAITING', event: 'story_assigned', to: 'SETUP' },

    { from: 'SETUP', event: 'workspace_ready', to: 'PLANNING' },
    { from: 'SETUP', event: 'setup_failed', to: 'ERROR' },

    { from: 'PLANNING', event: 'plan_submitted', to: 'PLAN_REVIEW' },
    { from: 'PLANNING', event: 'completion_approved', to: 'DONE' },
    { from: 'PLANNING', event: 'question_asked', to: 'QUESTION' },
    { from: 'PLANNING', event: 'budget_exhausted', to: 'BUDGET_REVIEW' },

    { from: 'PLAN_REVIEW', event: 'review_approved', to: 'CODING' },
    { from: 'PLAN_REVIEW', event: 'review_changes_requested', to: 'PLANNING' },
    { from: 'PLAN_REVIEW', event: 'abandoned', to: 'ERROR' },
    { from: 'PLAN_REVIEW', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'CODING', event: 'code_completed', to: 'TESTING' },
    { from: 'CODING', event: 'question_asked', to: 'QUESTION' },
    { from: 'CODING', event: 'budget_exhausted', to: 'BUDGET_REVIEW' },
    { from: 'CODING', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'TESTING', event: 'tests_passed', to: 'CODE_REVIEW' },
    { from: 'TESTING', event: 'tests_failed', to: 'FIXING' },

    { from: 'FIXING', event: 'code_completed', to: 'TESTING' },
    { from: 'FIXING', event: 'question_asked', to: 'QUESTION' },
    { from: 'FIXING', event: 'budget_exhausted', to: 'BUDGET_REVIEW' },
    { from: 'FIXING', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'CODE_REVIEW', event: 'review_approved', to: 'AWAIT_MERGE' },
    { from: 'CODE_REVIEW', event: 'review_changes_requested', to: 'FIXING' },
    { from: 'CODE_REVIEW', event: 'abandoned', to: 'ERROR' },
    { from: 'CODE_REVIEW', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'BUDGET_REVIEW', event: 'budget_granted', to: 'PLANNING', toOrigin: true },
    { from: 'BUDGET_REVIEW', event: 'budget_granted', to: 'CODING', toOrigin: true },
    { from: 'BUDGET_REVIEW', event: 'budget_granted', to: 'FIXING', toOrigin: true },
    { from: 'BUDGET_REVIEW', event: 'budget_escalated', to: 'CODE_REVIEW' },
    { from: 'BUDGET_REVIEW', event: 'abandoned', to: 'ERROR' },
    { from: 'BUDGET_REVIEW', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'AWAIT_MERGE', event: 'merged', to: 'DONE' },
    { from: 'AWAIT_MERGE', event: 'merge_conflicted', to: 'FIXING' },

    { from: 'QUESTION', event: 'question_answered', to: 'PLANNING', toOrigin: true },
    { from: 'QUESTION', event: 'question_answered', to: 'CODING', toOrigin: true },
    { from: 'QUESTION', event: 'question_answered', to: 'FIXING', toOrigin: true },
    { from: 'QUESTION', event: 'abandoned', to: 'ERROR' },
    { from: 'QUESTION', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'ERROR', event: 'cleaned_up', to: 'DONE' },
  ],
})
