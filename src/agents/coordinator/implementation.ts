import type { Decision, FinishedEffect } from '../role.ts'
import { bounded, describeRun, fieldOf } from '../team/coder-work.ts'
import { joined } from '../team/decisions.ts'
import { resumeThinking } from '../thinking/thinking.ts'
import type { BlobRef, Json, JsonObject } from '../values.ts'
import { TASK_STORY } from './protocol.ts'
import {
  ask,
  beginRound,
  discussionOf,
  endRound,
  finalize,
  giveUp,
  goOn,
  inRound,
  type TaskCase,
  think,
} from './task-case.ts'
import {
  asTaskData,
  type KnownCommand,
  type Review,
  roundOf,
  type TaskWork,
  type TestPlan,
} from './task-work.ts'

type Result = FinishedEffect['result']

/** How often a coder may end without having changed anything. */
const UNCHANGED_MAX = 2
const TITLE_CHARS_MAX = 72
const CODER_DIFF_BYTES_MAX = 20_000

/** Begins the implementation; the coder starts with what an earlier one left to be put right. */
export function confirm(c: TaskCase): Decision {
  const move = { event: 'implementation_confirmed', to: 'plan' } as const
  return goOn(c, { move, set: asTaskData({ tries: 0, failure: null, sameFailures: 0 }) })
}

/** The coder works, in the first round or in one more. */
export function build(c: TaskCase): Decision {
  const { proposal, mustFix, tries, diff } = c.work
  const move = { event: 'start_coder', to: 'build' } as const
  const variables = {
    proposal,
    must_fix: mustFix,
    ...(diff && { diff: shownToCoder(diff) }),
    discussion: discussionOf(c),
  }
  const set = { ...beginRound(c, 'implementation'), tries: tries + 1, unchanged: null }
  const decision = think(c, 'coder', 'coordinator/build', move, variables, set)
  if (tries === 0) return decision
  const reason = roundOf(c.agent, c.work.rounds)?.cameTo ?? 'another round'
  return { ...decision, retry: { count: tries, reason } }
}

/** The coder has the files, and needs its window for them. */
function shownToCoder(diff: BlobRef): BlobRef | string {
  if (diff.bytes <= CODER_DIFF_BYTES_MAX) return diff
  return `The diff has ${diff.bytes} bytes, too many to be shown here. All of it is in the workspace: git status names the files, git diff shows what changed in those that were there before.`
}

/** The coder says that it is done: what it did becomes a commit. */
export function commit(c: TaskCase, decision: Decision, input: Json): Decision {
  const { task, settings } = c.work
  const coderSays = bounded(String(fieldOf(input, 'summary') ?? ''), 4_000)
  const message = `${titleOf(task)}\n\n${bounded(coderSays, 2_000)}`
  const effect = {
    kind: 'checkpoint',
    input: { run: settings.run, story: TASK_STORY, message },
  }
  return ask(c, joined(decision, { set: inRound(c, { coderSays }) }), effect)
}

/** The first line of a task, as a commit and a pull request have it. */
function titleOf(task: string): string {
  const [line = ''] = task.trim().split('\n')
  return line.length <= TITLE_CHARS_MAX ? line : `${line.slice(0, TITLE_CHARS_MAX - 1)}…`
}

/** The commit is there: the repository's own tests are run on it, for the reviewer to see. */
export function testCommit(c: TaskCase, result: Result): Decision {
  if (!result.ok) return giveUp(c, {}, `the work could not be stored: ${result.error.message}`)
  const head = fieldOf(result.value, 'head') as string | null
  if (head === null) return sendBackUnchanged(c)
  const diff = fieldOf(result.value, 'diff') as unknown as BlobRef
  const set = { ...asTaskData({ head, diff }), ...inRound(c, { head, diff }) }
  return ask(c, { set }, { kind: 'run_tests', input: testInput(c) })
}

/** Whatever a run leaves in the workspace is gone before the next one, and before the next round. */
function testInput({ work }: TaskCase, more: JsonObject = {}): Json {
  const { settings, place } = work
  const rewind = { run: settings.run, story: TASK_STORY }
  return { ...settings.tests, ...more, workspace: place?.folder ?? '', rewind }
}

/** There is no diff, and so nothing that anybody could review. */
function sendBackUnchanged(c: TaskCase): Decision {
  const { unchanged, settings } = c.work
  if (unchanged >= UNCHANGED_MAX) return giveUp(c, {}, 'the coder changed nothing')
  const message =
    'Nothing is changed in the workspace. Do the task, or end with report_blocked and say why it needs no change.'
  const { decision } = resumeThinking(c.agent, message, settings.limits.fixingTurns)
  return joined(decision, { set: asTaskData({ unchanged: unchanged + 1, awaits: null }) })
}

/** The reviewer sees the task, the diff and the tests; not what the coder says about them. */
export function review(c: TaskCase, result: Result): Decision {
  const { diff, proposal, mustFix, settings } = c.work
  const ownTests = result.ok ? describeRun(result.value).text : result.error.message
  // Where nobody could look, at least what is configured is run in the end.
  const known = commandsOf(result.ok ? result.value : settings.tests)
  const learned = { ownTests, known, red: redOf(c, result), awaits: null }
  const set = { ...asTaskData(learned), ...inRound(c, { ownTests }) }
  const move = { event: 'start_reviewer', to: 'review' } as const
  const variables = {
    diff: diff as BlobRef,
    proposal,
    must_fix: mustFix,
    tests: ownTests,
  }
  return think(c, 'reviewer', 'coordinator/review', move, variables, set)
}

/** Without any tests of its own a repository has none that could fail. */
function redOf({ work }: TaskCase, result: Result): TaskWork['red'] {
  if (!result.ok || work.head === null) return work.red
  const { passed, fingerprint, text } = describeRun(result.value)
  const isRed = !passed && fieldOf(result.value, 'verdict') !== 'no_tests'
  return isRed ? { head: work.head, fingerprint, text: bounded(text, 8_000) } : work.red
}

function commandsOf(value: Json): readonly KnownCommand[] {
  const commands = (fieldOf(value, 'commands') ?? []) as readonly JsonObject[]
  return commands.map(({ argv, cwd }) => ({
    argv: argv as readonly string[],
    ...(typeof cwd === 'string' && { cwd }),
  }))
}

/** The reviewer has decided, in the required form. */
export function takeReview(c: TaskCase, decision: Decision, input: Json): Decision {
  const given = input as unknown as Review
  if (given.decision === 'approve') return planTests(c, decision, given)
  const points = given.must_fix.map((point) => `- ${point}`).join('\n')
  const mustFix = bounded(`The reviewer asks for changes:\n${points}`)
  return iterate(c, decision, 'review_changes_requested', mustFix, { review: given })
}

function planTests(c: TaskCase, decision: Decision, given: Review): Decision {
  const { diff, known, mustFix, failure } = c.work
  const move = { event: 'review_approved', to: 'test' } as const
  const variables = {
    diff: diff as BlobRef,
    wanted: given.tests.map((test) => `- ${test}`).join('\n'),
    known: known.map(({ argv, cwd }) => commandLine(argv, cwd)).join('\n'),
    failures: failure === null ? '' : mustFix,
  }
  const set = inRound(c, { review: given })
  return joined(decision, think(c, 'tester', 'coordinator/test', move, variables, set))
}

function commandLine(argv: readonly string[], cwd: string | undefined): string {
  const line = JSON.stringify(argv)
  return cwd === undefined ? line : `${line} in ${cwd}`
}

/** The tester's commands are run as argument lists, and after them the repository's own tests. */
export function runPlan(c: TaskCase, decision: Decision, input: Json): Decision {
  const plan = input as unknown as TestPlan
  const { known } = c.work
  const all = [...plan.commands.map((argv): KnownCommand => ({ argv })), ...known]
  const seen = new Set<string>()
  const commands = all.filter(({ argv, cwd }) => {
    const key = commandLine(argv, cwd)
    return !seen.has(key) && seen.add(key)
  })
  const planned = joined(decision, { set: inRound(c, { plan }) })
  const testing = testInput(c, { commands: commands as unknown as Json })
  return ask(c, planned, { kind: 'run_tests', input: testing })
}

interface Judged {
  readonly passed: boolean
  readonly text: string
  readonly fingerprint: string
}

/** Nothing passes but commands that ran and passed, one of which is known to test something. */
export function judgeTests(c: TaskCase, result: Result): Decision {
  const run = judge(c, result)
  if (run.passed) return approve(c, run.text)
  const { failure, sameFailures } = c.work
  const again = failure === run.fingerprint ? sameFailures + 1 : 1
  const set = asTaskData({ failure: run.fingerprint, sameFailures: again, awaits: null })
  const mustFix = bounded(`The tests failed:\n${run.text}`)
  return iterate(c, { set }, 'tests_failed', mustFix, { tests: run.text })
}

function judge(c: TaskCase, result: Result): Judged {
  const { red, head } = c.work
  if (!result.ok) {
    return { passed: false, text: result.error.message, fingerprint: result.error.code }
  }
  const run = describeRun(result.value)
  if (!run.passed) return run
  if (red !== null && red.head === head) {
    const text = `The repository's own tests failed on this commit when they were run on it alone, so that nothing later is a pass of it:\n${red.text}\n\nThe run after that:\n${run.text}`
    return { passed: false, text: bounded(text), fingerprint: red.fingerprint }
  }
  if (showsTests(c, result.value)) return run
  const text = `Nothing shows that a test was run: every command exited with 0, none printed the report of a test runner, and none is a test command of this repository.\n${run.text}`
  return { passed: false, text: bounded(text), fingerprint: 'no test is shown' }
}

/** An exit code alone shows nothing, but for what the repository or its owner calls its tests. */
function showsTests({ work }: TaskCase, value: Json): boolean {
  const own = new Set(work.known.map(({ argv, cwd }) => commandLine(argv, cwd)))
  const commands = (fieldOf(value, 'commands') ?? []) as readonly JsonObject[]
  const reports = commands.some(({ evidence }) => evidence === 'counted' || evidence === 'reported')
  return reports || commandsOf(value).some(({ argv, cwd }) => own.has(commandLine(argv, cwd)))
}

function approve(c: TaskCase, tests: string): Decision {
  const { task, head, place, settings } = c.work
  const set = {
    ...endRound(c, 'approved', { tests }),
    ...asTaskData({ mustFix: '', failure: null, sameFailures: 0 }),
  }
  const input = {
    branch: place?.branch ?? '',
    target: settings.target,
    head: head ?? '',
    title: titleOf(task),
    body: bounded(task, 8_000),
  }
  const end = finalize(c, { set }, 'tests_passed', { outcome: 'approved', why: '' })
  return ask(c, end, { kind: 'open_pull_request', input })
}

/** What has to be put right is gathered; whether there is another round shows with the next event. */
export function iterate(
  c: TaskCase,
  decision: Decision,
  event: 'review_changes_requested' | 'tester_schema_invalid' | 'tests_failed',
  mustFix: string,
  learned: Parameters<typeof inRound>[1],
  retry?: Decision['retry'],
): Decision {
  const isTests = event === 'tests_failed'
  const set = {
    ...asTaskData({ mustFix, ...(!isTests && { failure: null, sameFailures: 0 }) }),
    ...endRound(c, event, { ...learned, mustFix }),
  }
  const next = joined(decision, { move: { event, to: 'iterate' }, set })
  return goOn(c, retry === undefined ? next : { ...next, retry })
}

/** What a last round came to is the outcome where there is a name for it. */
const LAST_ROUND: Readonly<Record<string, 'test_failed' | 'tester_schema_invalid'>> = {
  tests_failed: 'test_failed',
  tester_schema_invalid: 'tester_schema_invalid',
}

/** Another round, unless they are used up or bring nothing new. */
export function goRound(c: TaskCase): Decision {
  const { tries, sameFailures, settings, mustFix } = c.work
  const { taskRounds, sameFailures: sameMax } = settings.limits
  const isSame = sameFailures >= sameMax
  if (tries < taskRounds && !isSame) return build(c)
  const cameTo = roundOf(c.agent, c.work.rounds)?.cameTo ?? ''
  const what = isSame ? `the tests failed ${sameFailures} times in the same way` : `${tries} rounds`
  const why = `after ${what} this was left:\n${mustFix}`
  const outcome = LAST_ROUND[cameTo] ?? 'max_iterations_reached'
  const retry = { count: tries, reason: cameTo }
  return finalize(c, {}, 'max_iterations_reached', { outcome, why, isSpent: true, retry })
}
