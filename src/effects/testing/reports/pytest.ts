import {
  countTests,
  matchLines,
  namesOf,
  numberOf,
  type ReportReader,
  sumCounts,
} from './report.ts'

const SUMMARY = /^(?:=+ )?(no tests ran|\d+ [a-z]+(?:, \d+ [a-z]+)*) in \d+\.\d+s\b/

/** pytest. An expected failure has passed; an error in a fixture or an import is a failure. */
export const pytest: ReportReader = {
  runner: 'pytest',
  sign: /^(?:=+ )?(?:no tests ran|\d+ (?:failed|passed|skipped|xfailed|xpassed|deselected|errors?|warnings?)\b[\w, ]*) in \d+\.\d+s\b/m,
  read({ lines }) {
    const counts = matchLines(lines, SUMMARY).map(([, text = '']) =>
      countTests({
        passed: numberOf(text, 'passed', 'xfailed', 'xpassed'),
        failed: numberOf(text, 'failed', 'error', 'errors'),
        skipped: numberOf(text, 'skipped', 'deselected'),
      }),
    )
    const failing = namesOf(matchLines(lines, /^(?:FAILED|ERROR) (.+?)(?: - .*)?$/))
    return { counts: sumCounts(counts), failing }
  },
}
