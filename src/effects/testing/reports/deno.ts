import { countTests, matchLines, numberOf, type ReportReader, sumCounts } from './report.ts'

const SUMMARY = /^(?:ok|FAILED) \| (\d+ passed.*)$/

/** deno test. */
export const deno: ReportReader = {
  runner: 'deno',
  sign: /^(?:ok|FAILED) \| \d+ passed|^error: No test modules found/m,
  read({ lines }) {
    const counts = matchLines(lines, SUMMARY).map(([, text = '']) =>
      countTests({
        passed: numberOf(text, 'passed'),
        failed: numberOf(text, 'failed'),
        skipped: numberOf(text, 'ignored'),
      }),
    )
    const start = lines.findIndex((line) => line.trim() === 'FAILURES')
    const list = start < 0 ? [] : lines.slice(start + 1)
    const failing = matchLines(list, /^(\S.*) => \S+$/).map(([, name = '']) => name)
    return { counts: sumCounts(counts), failing: [...new Set(failing)] }
  },
}
