import {
  countOfTotal,
  countTests,
  labelled,
  matchLines,
  namesOf,
  numberOf,
  type ReportReader,
  sumCounts,
} from './report.ts'

const OK = /^OK \((\d{1,9}) tests?, \d+ assertions?\)$/
const SUMMARY = /^Tests: (\d{1,9}), (Assertions: .*)$/
const PEST = /^ {2}Tests: +(\d+ [a-z]+(?:, \d+ [a-z]+)*) \(\d+ assertions?\)$/

/** PHPUnit, and Pest, which stands on it. */
export const phpunit: ReportReader = {
  runner: 'phpunit',
  sign: /^OK \(\d+ tests?, \d+ assertions?\)$|^Tests: \d+, Assertions: |^No tests executed!$|^ {2}Tests: +\d+ [a-z]+.* \(\d+ assertions?\)$/m,
  read({ lines }) {
    const ok = matchLines(lines, OK).map((match) => countOfTotal(Number(match[1]), 0, 0))
    const summaries = matchLines(lines, SUMMARY).map(([, total, text = '']) =>
      countOfTotal(
        Number(total),
        labelled(text, 'Failures') + labelled(text, 'Errors'),
        labelled(text, 'Skipped') + labelled(text, 'Incomplete'),
      ),
    )
    const pest = matchLines(lines, PEST).map(([, text = '']) =>
      countTests({
        passed: numberOf(text, 'passed', 'risky', 'warnings', 'warning', 'deprecated'),
        failed: numberOf(text, 'failed'),
        skipped: numberOf(text, 'skipped', 'incomplete', 'todo', 'todos'),
      }),
    )
    const names = matchLines(lines, /^\d+\) (\S+::\S.*)$/)
    const inPest = matchLines(lines, /^ {2,3}FAILED {2}(\S.* > .*?)(?: {2,}.*)?$/)
    return {
      counts: sumCounts([...ok, ...summaries, ...pest]),
      failing: [...namesOf(names), ...namesOf(inPest)],
    }
  },
}
