import type { FailureKind } from './brain.ts'

/**
 * What is done about a failed turn. `retry_then_suspend` tries the same turn again, for a while.
 * `suspend` waits for a human. `compact` sends a shorter conversation. `tell_the_model` goes on with
 * a message that says what was wrong. `stop` ends the effect for good, and the role moves on by a
 * row of its table.
 */
export type FailurePolicy = 'retry_then_suspend' | 'suspend' | 'compact' | 'tell_the_model' | 'stop'

/** What is done about each kind of failure; `docs/brains.md` says the same in words. */
export const FAILURE_POLICY: Readonly<Record<FailureKind, FailurePolicy>> = {
  rate_limited: 'retry_then_suspend',
  overloaded: 'retry_then_suspend',
  network: 'retry_then_suspend',
  timeout: 'retry_then_suspend',
  stalled: 'retry_then_suspend',
  auth: 'suspend',
  quota: 'suspend',
  context_overflow: 'compact',
  invalid_output: 'tell_the_model',
  refused: 'stop',
  rejected: 'stop',
  aborted: 'stop',
}
