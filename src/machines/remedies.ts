import type { Finding } from './audit.ts'
import type { Machine } from './machine.ts'

const OUTAGE = 'An outage goes by SUSPEND.'
const NO_WORK = 'What breaks its table halts it, and it can be revived.'

/**
 * What the product does about each finding: the table is law, so every remedy is a legal path.
 * Keys are a finding's kind and subject; a test keeps them equal to what the audit finds.
 */
const REMEDIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'pm@1': {},
  'architect@D': {
    'no-success MONITORING':
      'Dependents are released in REQUEST. The run ends when its stories do, and the orchestrator recycles the architect.',
    'no-success REQUEST': 'As for MONITORING: a merge releases the dependents here.',
    'no-success ESCALATED': 'As for MONITORING: the answer leads back to REQUEST.',
    'single-exit MONITORING': `Nothing but a request needs deciding here. ${OUTAGE}`,
    'no-failure-exit WAITING': 'Nothing is under way here that could fail.',
    'no-failure-exit DISPATCHING': `Dispatching asks for no service; the queue is in the journal. ${OUTAGE}`,
  },
  'architect@I': {
    'no-failure-exit DISPATCHING': `Dispatching asks for no service; the queue is in the journal. ${OUTAGE}`,
  },
  'coder@D': {
    'single-exit PLANNING':
      'When the planning budget is spent, the best plan so far is submitted, marked as such, and the architect decides.',
    'no-failure-exit TESTING': `A test run that cannot be done counts as failed and goes to CODING with the reason. ${OUTAGE}`,
    'unlabelled-event WAITING failed_unrecoverably':
      'Taken when an idle agent cannot be kept: what brings it stories was lost, and it is made anew.',
  },
  'coder@F': {
    'no-failure-exit WAITING': 'Nothing is under way here that could fail.',
    'no-failure-exit PLANNING': `What cannot go on here goes by QUESTION or BUDGET_REVIEW. ${OUTAGE}`,
    'no-failure-exit TESTING': `A test run that cannot be done counts as failed and goes to FIXING with the reason. ${OUTAGE}`,
    'no-failure-exit AWAIT_MERGE': `A merge that cannot be done goes to FIXING with the reason. ${OUTAGE}`,
    'ambiguous-event BUDGET_REVIEW budget_granted':
      'BUDGET_REVIEW remembers the state it was entered from and returns there with a fresh counter.',
    'ambiguous-event QUESTION question_answered':
      'QUESTION remembers the state it was entered from and returns there.',
  },
  'coordinator@1': {
    'no-failure-state table':
      'Failures end in finalize with an outcome. ERROR comes with the SUSPEND overlay alone: a suspension that timed out rests there, and `*` leads on to finalize.',
  },
  'story@1': {
    'no-failure-state table': `A story asks for no service, and its own failure is FAILED, which a human decides about. ${NO_WORK}`,
  },
  'dispatcher@1': {
    'no-failure-state table': `Handing out asks for no service; the queue is in the journal. ${NO_WORK}`,
  },
  'merge-queue@1': {},
  'ledger@1': {
    'no-failure-state table': `The books are in the journal and ask for no service. ${NO_WORK}`,
  },
  'coordinator@2': {
    'no-failure-state table':
      'Failures end in finalize with an outcome. A suspension that timed out passes through the ERROR of the overlay to finalize by the row of its provider error.',
  },
}

/** What the product does about a finding, or `undefined` for one that nobody has thought about. */
export function remedyFor(machine: Machine, finding: Finding): string | undefined {
  return REMEDIES[machine.name]?.[`${finding.kind} ${finding.subject}`]
}

/** The findings that have a remedy, by kind and subject. */
export function remediedFindings(machine: Machine): string[] {
  return Object.keys(REMEDIES[machine.name] ?? {})
}
