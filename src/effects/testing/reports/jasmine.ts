import {
  countOfTotal,
  matchLines,
  namesOf,
  numberOf,
  type ReportReader,
  sumCounts,
} from './report.ts'

const SUMMARY = /^(?:Ran \d+ of )?(\d{1,9}) specs?, (\d+ failures?(?:, \d+ pending specs?)?)$/

/** Jasmine. What it excluded by a focus is not told apart from what passed. */
export const jasmine: ReportReader = {
  runner: 'jasmine',
  sign: /^(?:Ran \d+ of )?\d+ specs?, \d+ failures?(?:, \d+ pending specs?)?$|^Incomplete: No specs found/m,
  read({ lines }) {
    const counts = matchLines(lines, SUMMARY).map(([, total, text = '']) =>
      countOfTotal(Number(total), numberOf(text, 'failure', 'failures'), numberOf(text, 'pending')),
    )
    const start = lines.indexOf('Failures:')
    const list = start < 0 ? [] : lines.slice(start + 1)
    return { counts: sumCounts(counts), failing: namesOf(matchLines(list, /^\d+\) (.*)$/)) }
  },
}
