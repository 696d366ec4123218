import type { Ended } from '../process/command.ts'

/** A command that runs tests. */
export type TestCommand = {
  readonly argv: readonly [string, ...string[]]
  /** Below the workspace; the workspace itself when absent. */
  readonly cwd?: string
  /** Who or what said so: a file of the repository, or the configuration. */
  readonly reason: string
  /**
   * Its runner is one whose report is read, by its summary or by a dot for each test: without a
   * report, no test has run.
   */
  readonly reports?: 'summary' | 'dots'
  /** It plainly runs nothing, as `true` does: whatever it says, no test has run. */
  readonly idle?: boolean
}

/** How many tests there were. `executed` is those that passed and those that failed. */
export type TestCounts = {
  readonly executed: number
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** What a test run came to. Only `passed` is a pass. */
export type TestVerdict = 'passed' | 'failed' | 'no_tests' | 'timed_out' | 'not_started' | 'aborted'

/** Why it is no pass. */
export type TestCode = keyof typeof TEST_CODES

/** Every reason not to pass, with the verdict that it leads to and what it means. */
export const TEST_CODES = {
  tests_failed: ['failed', 'tests failed'],
  failed_despite_exit: ['failed', 'tests failed, although the command exited with 0'],
  exited_with_failure: ['failed', 'the command failed, and named no test that did'],
  killed: ['failed', 'the command was killed, as when memory is spent'],
  flooded: ['failed', 'the command printed without end, and was ended'],
  no_command: ['no_tests', 'nothing says how this repository is tested'],
  none_executed: ['no_tests', 'no test was executed'],
  nothing_reported: ['no_tests', 'nothing in the output says that a test was executed'],
  evidence_lost: [
    'no_tests',
    'the target has tests that are reported, and here the exit code alone says that any were executed; keep a command whose report can be read',
  ],
  command_missing: ['not_started', 'the command, or a program that it needs, does not exist'],
  command_not_executable: ['not_started', 'the command may not be executed'],
  not_started: ['not_started', 'the command could not be started'],
  timed_out: ['timed_out', 'the time was over'],
  aborted: ['aborted', 'it was stopped'],
} as const satisfies Record<string, readonly [Exclude<TestVerdict, 'passed'>, string]>

/**
 * What a verdict stands on. `counted`: a test runner's summary with numbers. `reported`: a runner
 * says that tests ran, and not how many. `exit_code`: the exit code alone, so that nothing shows
 * that any test ran at all. `none`: not even that.
 */
export type Evidence = 'counted' | 'reported' | 'exit_code' | 'none'

/** How one command of a test run ended. */
export type CommandResult = {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string | null
  readonly reason: string
  readonly verdict: TestVerdict
  readonly code: TestCode | null
  readonly how: Ended['how']
  readonly exitCode: number | null
  readonly evidence: Evidence
  /** Null when the output does not say. */
  readonly counts: TestCounts | null
  /** The runners whose reports were found in the output. */
  readonly runners: readonly string[]
  /** Names of failing tests, as far as they fit; `counts` has their number. */
  readonly failing: readonly string[]
  /** The end of the output, as plain text without secrets. */
  readonly tail: string
  readonly droppedBytes: number
  readonly durationMs: number
  /** Where all of that text is, when it was kept. */
  readonly output: { readonly sha256: string; readonly bytes: number } | null
}

/** What a test run came to, as it is stored. */
export type TestResult = {
  readonly verdict: TestVerdict
  readonly code: TestCode | null
  /** The verdict in a sentence. */
  readonly message: string
  /** The weakest of all commands. */
  readonly evidence: Evidence
  /** All counts that are known, together; null when none is. */
  readonly counts: TestCounts | null
  /** The same for the same failure, whenever and wherever it happens; null for a pass. */
  readonly fingerprint: string | null
  readonly commands: readonly CommandResult[]
  readonly durationMs: number
}
