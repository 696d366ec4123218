import { ava } from './reports/ava.ts'
import { bun } from './reports/bun.ts'
import { cargo } from './reports/cargo.ts'
import { ctest } from './reports/ctest.ts'
import { deno } from './reports/deno.ts'
import { dotnet } from './reports/dotnet.ts'
import { exunit } from './reports/exunit.ts'
import { go } from './reports/go.ts'
import { gradle } from './reports/gradle.ts'
import { jasmine } from './reports/jasmine.ts'
import { jest } from './reports/jest.ts'
import { junit } from './reports/junit.ts'
import { karma } from './reports/karma.ts'
import { minitest } from './reports/minitest.ts'
import { mocha } from './reports/mocha.ts'
import { noTarget } from './reports/no-target.ts'
import { nodeDots } from './reports/node-dots.ts'
import { nodeTap } from './reports/node-tap.ts'
import { nodeTest } from './reports/node-test.ts'
import { phpunit } from './reports/phpunit.ts'
import { playwright } from './reports/playwright.ts'
import { prove } from './reports/prove.ts'
import { pytest } from './reports/pytest.ts'
import { countTests, type Printed, type ReportReader, sumCounts } from './reports/report.ts'
import { rspec } from './reports/rspec.ts'
import { surefire } from './reports/surefire.ts'
import { tap } from './reports/tap.ts'
import { unittest } from './reports/unittest.ts'
import { vitest } from './reports/vitest.ts'
import type { TestCounts } from './test-result.ts'

const READERS: readonly ReportReader[] = [
  nodeTest,
  vitest,
  jest,
  jasmine,
  karma,
  mocha,
  ava,
  tap,
  nodeTap,
  prove,
  pytest,
  unittest,
  go,
  cargo,
  rspec,
  minitest,
  surefire,
  gradle,
  junit,
  dotnet,
  phpunit,
  deno,
  bun,
  exunit,
  ctest,
  playwright,
  noTarget,
]

/** No summary is longer; what is, such as a bundle in one line, is cut before it is looked at. */
const LINE_CHARS_MAX = 1_000
const NAME_CHARS_MAX = 300
const NAMES_MAX = 1_000

// How `pnpm -r`, turbo and others mark the lines of a package: `packages/a test: …`, `web:test: …`.
const PACKAGE_PREFIX = /^(?:[@\w./-]+ test[$:]|[@\w./-]+:test:) /

/** What a command's output says about tests. */
export interface TestReport {
  /** The runners that were recognised; none when the output says nothing about tests. */
  readonly runners: readonly string[]
  /** Null when nobody says how many tests there were, which is not the same as none. */
  readonly counts: TestCounts | null
  /** How many failures are reported, also by those who do not count what passed. */
  readonly failed: number
  readonly failing: readonly string[]
}

/**
 * Names in the output of which a reader has to know whether they are those of files that do nothing,
 * before it can be read. Never throws.
 */
export function namesToLookUp(text: string): readonly string[] {
  const lines = linesOf(text)
  const whole = lines.join('\n')
  const readers = READERS.filter(({ sign }) => sign.test(whole))
  return [...new Set(readers.flatMap((reader) => reader.namesToLookUp?.(lines) ?? []))]
}

/** Reads the output of a test run, as plain text, whoever wrote it. Never throws. */
export function readTestReport(output: {
  readonly text: string
  readonly complete: boolean
  readonly argv: readonly string[]
  readonly exitCode: number | null
  /** Whether the runner is known to print a dot for each test, and no summary. */
  readonly dots?: boolean
  /** Which of the names to look up are those of files that do nothing. */
  readonly emptyFiles?: ReadonlySet<string>
}): TestReport {
  const lines = linesOf(output.text)
  const text = lines.join('\n')
  const { complete, emptyFiles = new Set() } = output
  const printed: Printed = { lines, complete, emptyFiles }
  const readers = output.dots === true ? [...READERS, nodeDots] : READERS
  const reports = readers
    .filter(({ sign, unless }) => sign.test(text) && !unless?.test(text))
    .map((reader) => ({ runner: reader.runner, report: reader.read(printed) }))
    .flatMap(({ runner, report }) => (report ? [{ runner, ...report }] : []))
  const counts = reports.flatMap((report) => report.counts ?? [])
  // Several may have run after one another, as in `npm run lint && jest && pytest`.
  const sum = counts.length > 0 ? sumCounts(counts) : null
  const unknown = reports.some((report) => report.counts === null)
  const failing = reports.flatMap((report) => report.failing.map(toName))
  return {
    runners: reports.map((report) => report.runner),
    counts: sum === null || (unknown && sum.executed === 0) ? countsByExit(output) : sum,
    failed: reports.reduce((all, each) => all + (each.counts?.failed ?? each.failing.length), 0),
    failing: [...new Set(failing)].filter((name) => name !== '').slice(0, NAMES_MAX),
  }
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').map(toLine)
}

function toLine(line: string): string {
  return cut(line, LINE_CHARS_MAX).replace(PACKAGE_PREFIX, '').trimEnd()
}

function toName(name: string): string {
  return cut(name.replace(/\s+/g, ' ').trim(), NAME_CHARS_MAX)
}

/** The beginning of a text, without half of a character that takes two places. */
function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  return text.slice(0, charsMax).replace(/[\ud800-\udbff]$/, '')
}

/** pytest says by its exit code that there was nothing to run, also when it is told to be quiet. */
function countsByExit({ argv, exitCode }: Parameters<typeof readTestReport>[0]): TestCounts | null {
  const isPytest = argv.some((argument) => /(?:^|\/)(?:pytest|py\.test)$/.test(argument))
  if (!isPytest || exitCode !== 5) return null
  return countTests({ passed: 0, failed: 0, skipped: 0 })
}
