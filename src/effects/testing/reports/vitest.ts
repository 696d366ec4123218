import { countLabelled, countTests, matchLines, type ReportReader } from './report.ts'

const TESTS = /^ *Tests {2}(.*)$/
const FILES = /^ *Test Files {2}(.*)$/
const FAIL = /^ FAIL {2}(.+)$/

/** Vitest. A file that cannot be loaded counts as one test that failed. */
export const vitest: ReportReader = {
  runner: 'vitest',
  sign: /^ *Test Files {2}|^No test files found, exiting with code/m,
  read({ lines }) {
    const names = [...new Set(matchLines(lines, FAIL).map((match) => match[1] ?? ''))]
    const brokenFiles = names.filter(isFile).length
    const counts = countLabelled(lines, TESTS)
    const failedFiles = countLabelled(lines, FILES).failed
    const failed = counts.failed + brokenFiles || failedFiles
    return {
      counts: countTests({ ...counts, failed }),
      failing: names.map((name) => (isFile(name) ? name.slice(0, name.lastIndexOf(' [ ')) : name)),
    }
  },
}

/** A file that failed as a whole is named twice: `a.test.ts [ a.test.ts ]`. */
function isFile(name: string): boolean {
  return name.endsWith(' ]') && name.includes(' [ ')
}
