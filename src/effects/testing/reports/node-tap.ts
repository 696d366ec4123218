import {
  countTests,
  labelled,
  matchLines,
  namesOf,
  type ReportReader,
  sumCounts,
} from './report.ts'
import { tap } from './tap.ts'

const SUMMARY = /^# \{ (total: \d+.*) \}$/

/** node-tap, in all of its reporters: its last lines are the same in each. */
export const nodeTap: ReportReader = {
  runner: 'node-tap',
  sign: /^# \{ total: \d|^No test files found$/m,
  read(printed) {
    const counts = matchLines(printed.lines, SUMMARY).map(([, text = '']) =>
      countTests({
        passed: labelled(text, 'pass'),
        failed: labelled(text, 'fail'),
        skipped: labelled(text, 'skip') + labelled(text, 'todo'),
      }),
    )
    const inProtocol = tap.read({ ...printed, complete: false })?.failing ?? []
    const failing = [...inProtocol, ...namesOf(matchLines(printed.lines, /^✖ (.+)$/))]
    return { counts: sumCounts(counts), failing }
  },
}
