import { countLabelled, countTests, matchLines, namesOf, type ReportReader } from './report.ts'

const TESTS = /^Tests: +((?:\d+ [a-z]+, )*\d+ total)$/
const SUITES = /^Test Suites: +((?:\d+ [a-z]+, )*\d+ total)/

/** Jest. A file that cannot be loaded counts as one test that failed. */
export const jest: ReportReader = {
  runner: 'jest',
  sign: /^Tests: +(?:\d+ [a-z]+, )*\d+ total$|^No tests found, exiting with code/m,
  read({ lines }) {
    const broken = filesThatBroke(lines)
    const counts = countLabelled(lines, TESTS)
    const failedSuites = countLabelled(lines, SUITES).failed
    const failed = counts.failed + broken.length || failedSuites
    const names = namesOf(matchLines(lines, /^ {2}● (.* › .*|(?!Console$|Test suite failed).*)$/))
    return { counts: countTests({ ...counts, failed }), failing: [...broken, ...names] }
  },
}

function filesThatBroke(lines: readonly string[]): readonly string[] {
  const files = new Set<string>()
  let file = ''
  for (const line of lines) {
    file = /^FAIL (\S+)/.exec(line)?.[1] ?? file
    if (line === '  ● Test suite failed to run') files.add(file)
  }
  return [...files]
}
