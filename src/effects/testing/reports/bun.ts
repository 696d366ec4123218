import { countTests, matchLines, namesOf, type ReportReader, sumCounts } from './report.ts'

const COUNT = /^ (\d{1,9}) (pass|fail|skip|todo)$/

/** bun test. A file that cannot be loaded counts as one test that failed. */
export const bun: ReportReader = {
  runner: 'bun',
  sign: /^Ran \d+ tests? across \d+ files?\.|^No tests found!$/m,
  read({ lines }) {
    const counts = matchLines(lines, COUNT).map(([, digits, word]) =>
      countTests({
        passed: word === 'pass' ? Number(digits) : 0,
        failed: word === 'fail' ? Number(digits) : 0,
        skipped: word === 'skip' || word === 'todo' ? Number(digits) : 0,
      }),
    )
    const failing = namesOf(matchLines(lines, /^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/))
    return { counts: sumCounts(counts), failing }
  },
}
