import {
  countTests,
  labelled,
  matchLines,
  namesOf,
  type ReportReader,
  sumCounts,
} from './report.ts'

const ASSEMBLY = /^ *(?:Passed|Failed|Skipped)! +- (Failed: +\d+, Passed: +\d+, Skipped: +\d+)/
const SUMMARY = /^ *Test summary: (total: \d+[,;].*)$/
const VERBOSE = /^ *(Total tests|Passed|Failed|Skipped): (\d{1,9})$/

/** dotnet test: a line for each assembly, or a summary of the whole run. */
export const dotnet: ReportReader = {
  runner: 'dotnet',
  sign: /^ *(?:(?:Passed|Failed|Skipped)! +- Failed: |Test summary: total: |Total tests: \d+$|No test (?:is available in|matches the given testcase filter))/m,
  read({ lines }) {
    const assemblies = matchLines(lines, ASSEMBLY).map(([, text = '']) =>
      countTests({
        passed: labelled(text, 'Passed'),
        failed: labelled(text, 'Failed'),
        skipped: labelled(text, 'Skipped'),
      }),
    )
    const summaries = matchLines(lines, SUMMARY).map(([, text = '']) =>
      countTests({
        passed: labelled(text, 'succeeded'),
        failed: labelled(text, 'failed'),
        skipped: labelled(text, 'skipped'),
      }),
    )
    // The one repeats the other.
    const summed = [assemblies, summaries, verboseIn(lines)].find((counts) => counts.length > 0)
    const failing = /^ *Failed (\S.*) \[(?:< )?[\d.]+ (?:ms|s|m)\b[^[\]]*\]$/
    return { counts: sumCounts(summed ?? []), failing: namesOf(matchLines(lines, failing)) }
  },
}

function verboseIn(lines: readonly string[]) {
  return matchLines(lines, VERBOSE).map(([, word, digits]) =>
    countTests({
      passed: word === 'Passed' ? Number(digits) : 0,
      failed: word === 'Failed' ? Number(digits) : 0,
      skipped: word === 'Skipped' ? Number(digits) : 0,
    }),
  )
}
