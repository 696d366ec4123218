import { redact } from '../guards/redaction.ts'
import type { Ended } from '../process/command.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { findEmptyFiles } from './empty-files.ts'
import { type Failure, fingerprintOf } from './failure-fingerprint.ts'
import { plainText, tailOf } from './plain-text.ts'
import { namesToLookUp, readTestReport, type TestReport } from './read-test-report.ts'
import { sumCounts } from './reports/report.ts'
import {
  type CommandResult,
  type Evidence,
  TEST_CODES,
  type TestCode,
  type TestCommand,
  type TestResult,
  type TestVerdict,
} from './test-result.ts'

/** What a run may take, and where its output goes. */
export interface TestRun {
  readonly sandbox: Sandbox
  /** The folder that the sandbox is around. */
  readonly workspace: string
  readonly commands: readonly TestCommand[]
  /** For all commands together. */
  readonly timeoutMs: number
  /** The most that is kept of each stream of a command. */
  readonly outputBytesMax: number
  readonly signal?: AbortSignal
  /**
   * Whether exit code 0 is not enough for any command: some runner's report must say that tests were
   * executed. Commands that are known to report need one in any case.
   */
  readonly requireReport?: boolean
  /** Values that are blacked out in whatever is kept, besides what looks like a secret. */
  readonly secrets?: readonly string[]
  /**
   * Given the whole output of each command in turn, as plain text without secrets; says where it is
   * kept, if it is.
   */
  readonly saveOutput?: (output: string) => Promise<CommandResult['output']>
}

/** What a result holds of all commands together, so that it fits a journal row however it is escaped. */
const TAIL_BYTES_MAX = 16_384
const NAME_BYTES_MAX = 6_144

/** Runners print colours and wait for keys unless they are told that nobody is there. */
const ENVIRONMENT = { CI: 'true', NO_COLOR: '1' }

/** When commands differ, the first of these is the verdict of all. */
const PRECEDENCE: readonly TestVerdict[] = [
  'aborted',
  'failed',
  'timed_out',
  'not_started',
  'no_tests',
  'passed',
]

/** From the weakest on. */
const EVIDENCE: readonly Evidence[] = ['none', 'exit_code', 'reported', 'counted']

interface Finished {
  readonly result: CommandResult
  readonly failure: Failure
}

/**
 * Runs test commands one after the other, all of them, and says what they came to. It is a pass
 * when every command exited with 0 and none of their reports speaks of a failure or of no tests.
 * Rejects only when `saveOutput` does.
 */
export async function runTests(run: TestRun): Promise<TestResult> {
  const startedMs = performance.now()
  const finished: Finished[] = []
  for (const command of run.commands) {
    const leftMs = Math.ceil(run.timeoutMs - (performance.now() - startedMs))
    finished.push(await runCommand(run, command, leftMs))
  }
  return sumUp(finished, Math.round(performance.now() - startedMs))
}

async function runCommand(run: TestRun, command: TestCommand, leftMs: number): Promise<Finished> {
  const ended = await start(run, command, leftMs)
  const clean = (stream: Uint8Array) => redact(plainText(stream), run.secrets)
  const output = clean(ended.output)
  // Each stream by itself is in order; together, one may have cut a line of the other in two.
  const streams = [ended.stdout, ended.stderr].filter((stream) => stream.length > 0)
  const text = streams.map(clean).join('\n')
  const { argv } = command
  const complete = ended.droppedBytes === 0
  const emptyFiles = await findEmptyFiles(run.workspace, command.cwd ?? '.', namesToLookUp(text))
  const printed = { text, complete, argv, exitCode: ended.exitCode, emptyFiles }
  const report = readTestReport({ ...printed, dots: command.reports === 'dots' })
  const evidence = evidenceOf(ended, report)
  const needsReport = run.requireReport === true || command.reports !== undefined
  const isUnproven = needsReport && evidence === 'exit_code'
  const code = judge(ended, report, text, command.idle === true ? 'idle' : isUnproven)
  const share = run.commands.length
  const result: CommandResult = {
    argv,
    cwd: command.cwd ?? null,
    reason: command.reason,
    verdict: code === null ? 'passed' : TEST_CODES[code][0],
    code,
    how: ended.how,
    exitCode: ended.exitCode,
    evidence,
    counts: report.counts,
    runners: report.runners,
    failing: fit(report.failing, Math.floor(NAME_BYTES_MAX / share)),
    tail: tailOf(output, Math.floor(TAIL_BYTES_MAX / share)),
    droppedBytes: ended.droppedBytes,
    durationMs: Math.round(ended.durationMs),
    output: (await run.saveOutput?.(output)) ?? null,
  }
  const facts = [...argv, code, ended.exitCode]
  // Where it was cut off is chance, and so is what was printed until then.
  const failure = code === 'timed_out' ? { failing: [], text: '' } : { ...report, text }
  return { result, failure: { facts, failing: failure.failing, text: failure.text } }
}

async function start(
  { sandbox, signal, outputBytesMax }: TestRun,
  { argv, cwd }: TestCommand,
  timeoutMs: number,
): Promise<Ended> {
  if (signal?.aborted) return neverRun('aborted')
  if (timeoutMs <= 0) return neverRun('timed_out')
  const place = cwd === undefined ? {} : { cwd }
  const stop = signal === undefined ? {} : { signal }
  return sandbox.run({ argv, env: ENVIRONMENT, timeoutMs, outputBytesMax, ...place, ...stop })
}

/** A command whose turn did not come. */
function neverRun(how: 'aborted' | 'timed_out'): Ended {
  const [stdout, stderr, output] = [Buffer.alloc(0), Buffer.alloc(0), Buffer.alloc(0)]
  return { how, exitCode: null, stdout, stderr, output, droppedBytes: 0, durationMs: 0 }
}

function evidenceOf({ how }: Ended, { counts, runners }: TestReport): Evidence {
  if (counts !== null) return 'counted'
  if (runners.length > 0) return 'reported'
  return how === 'exited' ? 'exit_code' : 'none'
}

/**
 * Why a command did not pass; null when it did. Its exit code and its report have to agree: either
 * of them alone can turn a pass into a failure, and neither can do the opposite.
 */
function judge(
  ended: Ended,
  report: TestReport,
  text: string,
  unproven: boolean | 'idle',
): TestCode | null {
  const { how, exitCode } = ended
  if (how === 'not_started') return whyNotStarted(text)
  if (how !== 'exited') return how
  if (report.failed > 0) return exitCode === 0 ? 'failed_despite_exit' : 'tests_failed'
  if (exitCode === 127 || (exitCode !== 0 && MISSING.test(text))) return 'command_missing'
  if (exitCode === 126) return 'command_not_executable'
  if (report.counts?.executed === 0 || unproven === 'idle') return 'none_executed'
  if (exitCode !== 0) return 'exited_with_failure'
  return unproven ? 'nothing_reported' : null
}

/** How Python and make say in other words that something is not installed. */
const MISSING =
  /^\S*python[\d.]*: No module named (?:pytest|unittest)$|^g?make(?:\[\d+\])?: \*\*\* \[.*\] Error 127$/m

/** Node names the error; bubblewrap says which call failed, and so tells it from its own failures. */
function whyNotStarted(text: string): TestCode {
  if (/\bENOENT\b|^bwrap: execvp .*: No such file/m.test(text)) return 'command_missing'
  const isRefused = /\bEACCES\b|^bwrap: execvp .*: Permission denied/m.test(text)
  return isRefused ? 'command_not_executable' : 'not_started'
}

function sumUp(finished: readonly Finished[], durationMs: number): TestResult {
  const commands = finished.map(({ result }) => result)
  const first = PRECEDENCE.map((verdict) => commands.find((each) => each.verdict === verdict))
  const decisive = first.find((command) => command !== undefined)
  const code = decisive === undefined ? 'no_command' : decisive.code
  const counts = commands.flatMap((command) => command.counts ?? [])
  const weakest = commands.map((command) => EVIDENCE.indexOf(command.evidence))
  const failures = finished.filter(({ result }) => result.code !== null)
  return {
    verdict: code === null ? 'passed' : TEST_CODES[code][0],
    code,
    message: describe(code, decisive, commands),
    evidence: EVIDENCE[Math.min(...weakest)] ?? 'none',
    counts: counts.length > 0 ? sumCounts(counts) : null,
    fingerprint: code === null ? null : fingerprintOf(failures.map(({ failure }) => failure)),
    commands,
    durationMs,
  }
}

function describe(
  code: TestCode | null,
  decisive: CommandResult | undefined,
  commands: readonly CommandResult[],
): string {
  const name = (command: CommandResult) => tailOf(command.argv.join(' '), 200)
  if (code !== null) return `${decisive ? `${name(decisive)}: ` : ''}${TEST_CODES[code][1]}`
  const unproven = commands.filter((command) => command.evidence === 'exit_code').map(name)
  if (unproven.length === 0) return 'all tests passed'
  return `every command exited with 0, but nothing shows that these ran a test: ${unproven.join(', ')}`
}

/** As many names as fit. */
function fit(names: readonly string[], bytesMax: number): readonly string[] {
  let bytes = 0
  return names.filter((name) => {
    bytes += Buffer.byteLength(name)
    return bytes <= bytesMax
  })
}
