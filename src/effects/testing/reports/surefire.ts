import {
  countOfTotal,
  labelled,
  matchLines,
  namesOf,
  type ReportReader,
  sumCounts,
} from './report.ts'

// The lines of single classes go on with the time; the line of a module ends here.
const SUMMARY =
  /^(?:\[[A-Z]+\] )?Tests run: (\d{1,9}), (Failures: \d+, Errors: \d+, Skipped: \d+)(?:, Flakes: \d+)?$/

// `test(com.example.Class)  Time elapsed: …` and, since version 3, `com.example.Class.test -- Time …`
const FAILING = /^\[ERROR\] (\S.*)Time elapsed: .{1,20} <<< (?:FAILURE|ERROR)!$/

/** Surefire and Failsafe, the runners of Maven. */
export const surefire: ReportReader = {
  runner: 'surefire',
  sign: /^(?:\[[A-Z]+\] )?(?:Tests run: \d+, Failures: \d+, Errors: |No tests to run\.$|Tests are skipped\.$)/m,
  read({ lines }) {
    const counts = matchLines(lines, SUMMARY).map(([, total, text = '']) =>
      countOfTotal(
        Number(total),
        labelled(text, 'Failures') + labelled(text, 'Errors'),
        labelled(text, 'Skipped'),
      ),
    )
    const names = namesOf(matchLines(lines, FAILING))
    return { counts: sumCounts(counts), failing: names.map((name) => name.replace(/ --$/, '')) }
  },
}
