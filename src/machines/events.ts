/**
 * Every event name that any table uses, with its meaning: one vocabulary across all machines and
 * revisions. A row whose event is not here does not compile.
 */
export const EVENTS = {
  // Work arriving
  story_assigned: 'The orchestrator handed over a story.',
  spec_received: 'A specification arrived.',
  request_received: 'A question, an approval, a merge or a spec review was asked for.',
  interview_started: 'The human asked to be interviewed instead of bringing a spec.',
  workspace_ready: 'The clone and its branch are prepared.',
  setup_failed: 'The workspace could not be prepared.',

  // Thinking and asking
  plan_submitted: 'The plan was handed in for review.',
  draft_submitted: 'The spec was handed in for the human to look at.',
  code_completed: 'The work is ready to be tested.',
  completion_approved: 'The claim that nothing is left to do was accepted.',
  question_asked: 'Somebody else has to answer before the work can go on.',
  question_answered: 'The answer came; the work goes on where it was left.',
  interview_completed: 'The human has said what is needed for a draft.',

  // Reviews and tests
  review_approved: 'The reviewer accepted what was submitted.',
  review_changes_requested: 'The reviewer sent it back with what must change.',
  tests_passed: 'The tests ran and passed.',
  tests_failed: 'The tests ran and failed, or there were none.',

  // Budgets
  budget_exhausted: 'An iteration budget is spent.',
  budget_granted: 'More was granted: the work goes on, as it was or slightly changed.',
  budget_escalated: 'The budget review wants to see the code as it is.',
  replan_ordered: 'The budget review sends the work back for a changed or new plan.',

  // Merging
  merged: 'The reviewed commit is on the target.',
  merge_conflicted: 'The commit does not fit the target as it is now.',
  merge_failed: 'The merge cannot be done at all.',

  // The architect's own work
  stories_queued: 'The spec became stories and the first are ready.',
  spec_approved: 'The spec was accepted and its stories are loaded.',
  stories_dispatched: 'Every ready story is on the work queue.',
  all_stories_completed: 'No story is left.',
  request_answered: 'The request was decided and other work is under way.',
  returned_to_idle: 'The request was decided and there is no spec under way.',
  escalated: 'Only a human can decide.',
  human_answered: 'The human decided.',
  answer_timed_out: 'The human did not answer in time.',

  // Ends
  abandoned: 'Whoever decides gave the work up.',
  failed_unrecoverably: 'An error that no retry can mend.',
  channel_closed: 'The process is going down abnormally.',
  recovered: 'The orchestrator restarted the agent after a failure.',
  cleaned_up: 'The orchestrator saved and cleared what the failed agent left.',

  // A story's way through the team
  dependencies_met: 'Everything that the story needs is merged or waived.',
  story_requeued: 'An attempt failed, and another coder takes the story up with what was learned.',
  attempts_exhausted: 'The story failed for good, unless a human decides otherwise.',
  story_retried: 'The human wants the story tried again, perhaps in other words.',
  story_waived: 'The human does without the story; what depends on it goes on.',
  story_cut: 'The human takes the story out of the run.',
  merge_started: 'A reviewed commit is being merged.',
  merge_ended: 'The merge came to an end, one way or the other.',

  // Suspension
  service_unavailable: 'A service the agent needs is out, and its retries are spent.',
  service_restored: 'Every configured service answers again.',
  suspension_timed_out: 'The services did not come back in time.',

  // One task: named by its own document, which does not always use the past tense
  task_received: 'A new task starts a run.',
  task_followup_received: 'A further message was appended to a finished task.',
  draft_proposal: 'The task is to be discussed first.',
  roundtable_reviewer: 'The reviewer joins the discussion.',
  roundtable_tester: 'The tester joins the discussion.',
  await_operator_confirm: 'The discussion is over and the operator decides.',
  implementation_confirmed: 'The operator confirmed, or asked for implementation at once.',
  start_coder: 'The coder works on the code.',
  start_reviewer: 'The reviewer judges the code.',
  review_schema_invalid: 'The reviewer did not answer in the required form.',
  tester_schema_invalid: 'The tester did not answer in the required form.',
  aborted_by_operator: 'The operator stopped the task.',
  max_iterations_reached: 'The iteration budget of the task is spent.',
  provider_network_error: 'The model provider could not be reached.',
  provider_timeout: 'The model provider did not answer in time.',
  provider_auth_error: 'The model provider refused the credentials.',
} as const

export type EventName = keyof typeof EVENTS
