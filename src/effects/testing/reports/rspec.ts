import { countOfTotal, matchLines, numberOf, type ReportReader, sumCounts } from './report.ts'

const SUMMARY = /^(\d{1,9}) examples?, (\d{1,9} failures?.*)$/

/** RSpec. A file that cannot be loaded is a failure outside of any example. */
export const rspec: ReportReader = {
  runner: 'rspec',
  sign: /^\d+ examples?, \d+ failures?/m,
  read({ lines }) {
    const counts = matchLines(lines, SUMMARY).map(([, total, text = '']) =>
      countOfTotal(
        Number(total),
        numberOf(text, 'failure', 'failures', 'error', 'errors'),
        numberOf(text, 'pending'),
      ),
    )
    const failing = matchLines(lines, /^rspec (\S+)(?: # (.*))?$/).map(
      ([, place = '', name]) => name ?? place,
    )
    const broken = matchLines(lines, /^An error occurred while loading (\S+?)\.?$/)
    const files = broken.map(([, file = '']) => file)
    return { counts: sumCounts(counts), failing: [...new Set([...files, ...failing])] }
  },
}
