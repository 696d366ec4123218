import {
  countOfTotal,
  countTests,
  matchLines,
  namesOf,
  type ReportReader,
  sumCounts,
} from './report.ts'

const SUMMARY = /^\d+% tests passed, (\d{1,9}) tests? failed out of (\d{1,9})$/
const LISTED = /^\t +\d+ - (\S.*) \((Disabled|Skipped|Failed|Timeout|Not Run|[A-Z][\w ]*)\)/

/** CTest, which calls it a success when there is nothing to run. */
export const ctest: ReportReader = {
  runner: 'ctest',
  sign: /^\d+% tests passed, \d+ tests? failed out of \d+$|^No tests were found!!!$/m,
  read({ lines }) {
    const listed = matchLines(lines, LISTED)
    const isSkipped = ([, , why]: RegExpExecArray) => why === 'Disabled' || why === 'Skipped'
    // Of those that did not run, only the skipped are among the total.
    const skipped = listed.filter(([, , why]) => why === 'Skipped').length
    const disabled = listed.filter(([, , why]) => why === 'Disabled').length
    const counts = matchLines(lines, SUMMARY).map(([, failed, total]) =>
      countOfTotal(Number(total), Number(failed), skipped),
    )
    const others = countTests({ passed: 0, failed: 0, skipped: disabled })
    const failing = namesOf(listed.filter((match) => !isSkipped(match)))
    return { counts: sumCounts([...counts, others]), failing }
  },
}
