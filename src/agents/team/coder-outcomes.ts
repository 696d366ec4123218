import type { Decision, FinishedEffect } from '../role.ts'
import type { BlobRef, Json, JsonObject } from '../values.ts'
import {
  type CoderCase,
  fail,
  finish,
  giveIn,
  mergeFailed,
  refuseClaim,
  request,
  sendBack,
  testing,
  think,
  thinkFix,
} from './coder-case.ts'
import { reviewBudget } from './coder-thinking.ts'
import {
  asData,
  bounded,
  type CoderWork,
  describeRun,
  type Fix,
  fieldOf,
  summaryOf,
} from './coder-work.ts'
import type { MoveTo } from './decisions.ts'
import type { Ask } from './protocol.ts'

/** Of tests that failed before: enough to see whether it is the same again. */
const EARLIER_CHARS_MAX = 4_000

export function takeOutcome(c: CoderCase, { kind, result }: FinishedEffect): Decision {
  const { state } = c.agent
  if (kind === 'prepare_workspace' && state === 'SETUP') return setUp(c, result)
  if (kind === 'prepare_workspace') return mend(c, {}, result.ok ? result.value : null)
  if (kind === 'checkpoint' && state === 'TESTING') return runTests(c, result)
  if (kind === 'checkpoint' && state === 'CODE_REVIEW') return askForReview(c, result)
  if (kind === 'run_tests' && state === 'TESTING') return judgeTests(c, result)
  if (kind === 'run_tests') return judgeClaim(c, result)
  if (kind === 'open_pull_request') return askForMerge(c, result)
  return { reason: `${kind} is over` }
}

function setUp(c: CoderCase, result: FinishedEffect['result']): Decision {
  if (!result.ok) {
    return fail(c, { event: 'setup_failed', to: 'ERROR' }, result.error.message)
  }
  const place = result.value as unknown as NonNullable<CoderWork['place']>
  const move: MoveTo = { event: 'workspace_ready', to: 'PLANNING' }
  return think(c, 'coder/planning', move, {}, asData({ place }))
}

function runTests(c: CoderCase, result: FinishedEffect['result']): Decision {
  if (!result.ok) return testsFailed(c, result.error.message, result.error.code, {})
  const head = fieldOf(result.value, 'head') as string | null
  const diff = fieldOf(result.value, 'diff') as unknown as BlobRef | null
  const set = asData({ head, diff })
  if (head === null) return testsFailed(c, 'Nothing was changed.', 'no_change', set)
  return { set, effects: [testing(c)] }
}

function judgeTests(c: CoderCase, result: FinishedEffect['result']): Decision {
  if (!result.ok) return testsFailed(c, result.error.message, result.error.code, {})
  const { passed, text, fingerprint } = describeRun(result.value)
  if (!passed) return testsFailed(c, text, fingerprint, {})
  const { counts } = c.work
  const set = asData({ tests: text, failure: null, counts: { ...counts, sameFailures: 0 } })
  return requestReview(c, { event: 'tests_passed', to: 'CODE_REVIEW' }, set, '')
}

/** The architect agreed that nothing has to be done; the tests have the last word. */
function judgeClaim(c: CoderCase, result: FinishedEffect['result']): Decision {
  const value = result.ok ? result.value : null
  const { passed, text } = describeRun(value)
  if (passed) {
    const tests = summaryOf(value)
    return finish(c, { event: 'completion_approved', to: 'DONE' }, { kind: 'complete', tests })
  }
  const failures = result.ok ? text : result.error.message
  const remarks = 'It is not complete: the tests do not pass on it as it is.'
  if (c.agent.state === 'PLANNING') return refuseClaim(c, remarks, failures)
  return sendBack(c, remarks, failures)
}

function testsFailed(c: CoderCase, text: string, fingerprint: string, set: JsonObject): Decision {
  const { counts, failure, tests, work } = c.work
  const sameFailures = failure === fingerprint ? counts.sameFailures + 1 : 1
  const earlier = failure === null ? '' : bounded(tests, EARLIER_CHARS_MAX)
  const fix: Fix = { kind: 'tests', text, ...(earlier !== '' && { earlier }) }
  const changed = asData({
    tests: text,
    failure: fingerprint,
    fix,
    counts: { ...counts, sameFailures },
  })
  const move: MoveTo = { event: 'tests_failed', to: c.rules.mends }
  if (sameFailures < work.settings.limits.sameFailures) {
    return { ...thinkFix(c, fix, move, {}, { ...set, ...changed }), reason: bounded(text, 500) }
  }
  const given = { ...changed, ...asData({ counts: { ...counts, sameFailures: 0 } }) }
  const [how] = text.split('\n')
  const why = `the tests fail in the same way again and again: ${how}`
  return { ...giveIn(c, move, why, { ...set, ...given }), reason: bounded(text, 500) }
}

function requestReview(
  c: CoderCase,
  move: MoveTo | undefined,
  set: JsonObject,
  note: string,
): Decision {
  const { counts, diff, head, earlier } = { ...c.work, ...(set as Partial<CoderWork>) }
  const ask: Ask = {
    kind: 'code',
    diff: diff as BlobRef,
    head: head ?? '',
    tests: bounded(String(set.tests ?? c.work.tests)),
    round: counts.codeRounds + 1,
    note,
    earlier: earlier.code,
  }
  return request(c, { set }, move, ask)
}

/** After an escalation: the code is judged as it is. */
function askForReview(c: CoderCase, result: FinishedEffect['result']): Decision {
  const head = result.ok ? (fieldOf(result.value, 'head') as string | null) : null
  if (!result.ok || head === null) {
    const reason = result.ok ? 'there is nothing to review' : result.error.message
    return fail(c, { event: 'failed_unrecoverably', to: 'ERROR' }, reason)
  }
  const diff = fieldOf(result.value, 'diff') as unknown as BlobRef
  const note = 'The budget review wants to see it as it is; the tests may fail.'
  return requestReview(c, undefined, asData({ head, diff }), note)
}

function askForMerge(c: CoderCase, result: FinishedEffect['result']): Decision {
  if (!result.ok) return mergeFailed(c, result.error.message)
  const { head, place } = c.work
  const number = Number(fieldOf(result.value, 'number'))
  const ask: Ask = { kind: 'merge', head: head ?? '', branch: place?.branch ?? '', number }
  return request(c, {}, undefined, ask)
}

/** The workspace stands on the target as it is now, with both sides in its files. */
function mend(c: CoderCase, set: JsonObject, prepared: Json): Decision {
  const { fix } = c.work
  if (prepared === null || fix === null) {
    const reason = 'the workspace could not be made anew'
    return fail(c, { event: 'failed_unrecoverably', to: 'ERROR' }, reason)
  }
  const changed = { ...set, place: prepared }
  const { counts, work } = c.work
  if (counts.mergeRounds >= work.settings.limits.codeRounds) {
    return reviewBudget(c, { set: changed }, `the merge came back ${counts.mergeRounds} times`)
  }
  return thinkFix(c, fix, undefined, {}, changed)
}
