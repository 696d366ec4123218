import type { TestCounts } from '../test-result.ts'
import { countOfTotal, matchLines, namesOf, type ReportReader, sumCounts } from './report.ts'

const RAN = /^Ran (\d{1,9}) tests? in \d+\.\d+s$/
const FAILURES = ['failures', 'errors', 'unexpected successes']

/** unittest of Python's library. An expected failure has passed. */
export const unittest: ReportReader = {
  runner: 'unittest',
  sign: /^Ran \d+ tests? in \d+\.\d+s$/m,
  read({ lines }) {
    const counts = lines.flatMap((line, at) => {
      const total = RAN.exec(line)?.[1]
      if (total === undefined) return []
      const status = lines.slice(at + 1, at + 4).find((next) => next !== '') ?? ''
      return [countsOf(Number(total), status)]
    })
    const names = /^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (.+)$/
    return { counts: sumCounts(counts), failing: namesOf(matchLines(lines, names)) }
  },
}

/** The status is `OK` or `FAILED`, with numbers as in `(failures=1, expected failures=2)`. */
function countsOf(total: number, status: string): TestCounts {
  let failed = 0
  let skipped = 0
  for (const [, key = '', digits] of status.matchAll(/([a-z ]+)=(\d{1,9})/g)) {
    if (FAILURES.includes(key.trim())) failed += Number(digits)
    if (key.trim() === 'skipped') skipped += Number(digits)
  }
  return countOfTotal(total, failed, skipped)
}
