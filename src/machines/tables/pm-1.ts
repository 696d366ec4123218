import { defineMachine } from '../machine.ts'

export const pm1 = defineMachine({
  id: 'pm',
  revision: '1',
  date: '2026-11-15',
  title: 'Product manager from an interview or a file to an approved spec',
  initial: 'WAITING',
  terminal: ['DONE'],
  states: {
    WAITING: 'Idle until a human brings a spec or asks to be interviewed.',
    INTERVIEWING: 'Ask the human what is missing, and wait for the answers.',
    DRAFTING: 'Write the spec with numbered acceptance criteria, and validate it.',
    PREVIEW: 'The human looks at the spec before the architect does.',
    SPEC_REVIEW: 'The architect judges the spec.',
    REVISING: "Work the human's or the architect's feedback into the spec.",
    DONE: 'The spec is approved and its stories exist.',
    ERROR: 'The spec was given up or cannot go on.',
  },
  transitions: [
    { from: 'WAITING', event: 'interview_started', to: 'INTERVIEWING' },
    { from: 'WAITING', event: 'spec_received', to: 'DRAFTING' },
    { from: 'WAITING', event: 'channel_closed', to: 'ERROR' },

    { from: 'INTERVIEWING', event: 'interview_completed', to: 'DRAFTING' },
    { from: 'INTERVIEWING', event: 'abandoned', to: 'ERROR' },
    { from: 'INTERVIEWING', event: 'answer_timed_out', to: 'ERROR' },
    { from: 'INTERVIEWING', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'DRAFTING', event: 'draft_submitted', to: 'PREVIEW' },
    { from: 'DRAFTING', event: 'question_asked', to: 'INTERVIEWING' },
    { from: 'DRAFTING', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'PREVIEW', event: 'review_approved', to: 'SPEC_REVIEW' },
    { from: 'PREVIEW', event: 'review_changes_requested', to: 'REVISING' },
    { from: 'PREVIEW', event: 'abandoned', to: 'ERROR' },
    { from: 'PREVIEW', event: 'answer_timed_out', to: 'ERROR' },

    { from: 'SPEC_REVIEW', event: 'spec_approved', to: 'DONE' },
    { from: 'SPEC_REVIEW', event: 'review_changes_requested', to: 'REVISING' },
    { from: 'SPEC_REVIEW', event: 'abandoned', to: 'ERROR' },

    { from: 'REVISING', event: 'draft_submitted', to: 'PREVIEW' },
    { from: 'REVISING', event: 'question_asked', to: 'INTERVIEWING' },
    { from: 'REVISING', event: 'budget_exhausted', to: 'INTERVIEWING' },
    { from: 'REVISING', event: 'failed_unrecoverably', to: 'ERROR' },

    { from: 'ERROR', event: 'cleaned_up', to: 'DONE' },
  ],
})
