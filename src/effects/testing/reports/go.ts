import type { TestCounts } from '../test-result.ts'
import { countTests, type ReportReader, type RunnerReport } from './report.ts'

type Outcome = 'pass' | 'fail' | 'skip'

/** What is known of the tests of one run, by package and name. */
interface Seen {
  readonly outcomes: Map<string, Outcome>
  /** Packages that failed, perhaps before any test. */
  readonly failedPackages: Set<string>
  /** Whether some package ran tests without naming them. */
  unnamed: boolean
  /** Whether tests that pass are named too. */
  verbose: boolean
}

const PACKAGE_LINE = /^(ok {2}|FAIL|\? {3})\t(\S+)(.*)$/
const TEST_LINE = /^ *--- (PASS|FAIL|SKIP): (\S+) \(/

/** go test: plain, with `-v` and with `-json`. Plain output does not say how many tests passed. */
export const go: ReportReader = {
  runner: 'go',
  sign: /^(?:ok {2}|FAIL|\? {3})\t\S|^\{"(?:Time|ImportPath|Action)":"/m,
  read({ lines }) {
    const seen: Seen = {
      outcomes: new Map(),
      failedPackages: new Set(),
      unnamed: false,
      verbose: false,
    }
    readPlain(lines, seen)
    const json = lines
      .filter((line) => line.startsWith('{"'))
      .filter((line) => readJson(line, seen))
    const recognised = json.length > 0 || lines.some((line) => PACKAGE_LINE.test(line))
    return recognised ? report(seen) : undefined
  },
}

function readPlain(lines: readonly string[], seen: Seen): void {
  let tests: [string, Outcome][] = []
  for (const line of lines) {
    const test = TEST_LINE.exec(line)
    if (test) tests.push([test[2] ?? '', (test[1] ?? '').toLowerCase() as Outcome])
    if (line.startsWith('=== RUN ')) seen.verbose = true
    const [, status, name = '', rest = ''] = PACKAGE_LINE.exec(line) ?? []
    if (status === undefined) continue
    // The line of a package comes after its tests.
    for (const [test, outcome] of tests) seen.outcomes.set(`${name} ${test}`, outcome)
    tests = []
    if (status === 'FAIL') seen.failedPackages.add(name)
    if (status === 'ok  ' && !rest.includes('[no tests to run]')) seen.unnamed = true
  }
}

/** Whether the line is an event of `go test -json`. */
function readJson(line: string, seen: Seen): boolean {
  let event: unknown
  try {
    event = JSON.parse(line)
  } catch {
    return false
  }
  const { Action, Package, Test } = event as Record<string, unknown>
  if (typeof Action !== 'string' || typeof Package !== 'string') return false
  seen.verbose = true
  if (typeof Test === 'string') {
    if (Action === 'pass' || Action === 'fail' || Action === 'skip') {
      seen.outcomes.set(`${Package} ${Test}`, Action)
    }
  } else if (Action === 'fail') seen.failedPackages.add(Package)
  return true
}

function report(seen: Seen): RunnerReport {
  const { outcomes, failedPackages } = seen
  // A test with tests inside it sums them up, unless it is the only one of them that failed.
  const parents = new Map<string, boolean>()
  for (const [name, outcome] of outcomes) {
    for (const parent of parentsOf(name)) {
      parents.set(parent, (parents.get(parent) ?? false) || outcome === 'fail')
    }
  }
  const counted = [...outcomes].filter(
    ([name, outcome]) => !parents.has(name) || (outcome === 'fail' && !parents.get(name)),
  )
  const failing = counted.filter(([, outcome]) => outcome === 'fail').map(([name]) => name)
  const packagesWithTests = new Set(failing.map((name) => name.slice(0, name.indexOf(' '))))
  for (const name of failedPackages) if (!packagesWithTests.has(name)) failing.push(name)
  const known = seen.verbose || (!seen.unnamed && failing.length === 0)
  const number = (outcome: Outcome) => counted.filter((entry) => entry[1] === outcome).length
  const counts: TestCounts | null = known
    ? countTests({ passed: number('pass'), failed: failing.length, skipped: number('skip') })
    : null
  return { counts, failing }
}

function parentsOf(name: string): readonly string[] {
  const parents: string[] = []
  const start = name.indexOf(' ')
  for (let at = name.indexOf('/', start); at > 0; at = name.indexOf('/', at + 1)) {
    parents.push(name.slice(0, at))
  }
  return parents
}
