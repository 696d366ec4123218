import type { TestCounts } from '../test-result.ts'
import { countOfTotal, countTests, matchLines, type ReportReader, sumCounts } from './report.ts'

const CONSOLE = /^\[ *(\d{1,9}) tests (successful|failed|aborted|skipped) *\]$/

/** JUnit's own console launcher, and the text runner of JUnit 4. */
export const junit: ReportReader = {
  runner: 'junit',
  sign: /^\[ *\d+ tests successful *\]$|^OK \(\d+ tests?\)$|^Tests run: \d+, {2}Failures: \d+$/m,
  read({ lines }) {
    const version4 = matchLines(
      lines,
      /^(?:OK \((\d+) tests?\)|Tests run: (\d+), {2}Failures: (\d+))$/,
    )
    const counts = version4.map(([, ok, total, failed]) =>
      countOfTotal(Number(ok ?? total), Number(failed ?? 0), 0),
    )
    const names = matchLines(lines, /^\d+\) (\S.*\([^\s()]+\))$|^ {2}(JUnit \w+:\S.*)$/)
    return {
      counts: sumCounts([...counts, ...matchLines(lines, CONSOLE).map(fromConsole)]),
      failing: names.map(([, inVersion4, inConsole]) => inVersion4 ?? inConsole ?? ''),
    }
  },
}

function fromConsole([, digits, word]: RegExpExecArray): TestCounts {
  const number = Number(digits)
  return countTests({
    passed: word === 'successful' ? number : 0,
    failed: word === 'failed' ? number : 0,
    skipped: word === 'skipped' || word === 'aborted' ? number : 0,
  })
}
