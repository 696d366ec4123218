import { countOfTotal, countTests, matchLines, type ReportReader, sumCounts } from './report.ts'

const TASK = /^(?:> Task )?:(?:[\w.-]+:)*(?:\w*[tT]est|test\w*UnitTest|allTests)(?: ([A-Z-]+))?$/
const COMPLETED = /^(\d{1,9}) tests? completed(?:, (\d{1,9}) failed)?(?:, (\d{1,9}) skipped)?$/

/**
 * Gradle, which says how many tests there were only when some failed. A task that is up to date
 * passed before with the same inputs; one without sources ran nothing.
 */
export const gradle: ReportReader = {
  runner: 'gradle',
  sign: /^BUILD (?:SUCCESSFUL|FAILED) in /m,
  read({ lines }) {
    const completed = matchLines(lines, COMPLETED).map(([, total, failed, skipped]) =>
      countOfTotal(Number(total), Number(failed ?? 0), Number(skipped ?? 0)),
    )
    const failing = lines
      .filter((line) => line.endsWith(' FAILED') && line.includes(' > ') && !line.startsWith('> '))
      .map((line) => line.slice(0, -' FAILED'.length).trim())
    if (completed.length > 0) return { counts: sumCounts(completed), failing }
    const tasks = matchLines(lines, TASK)
    if (tasks.length === 0) return undefined
    const ran = tasks.some(([, outcome]) => outcome !== 'NO-SOURCE' && outcome !== 'SKIPPED')
    return { counts: ran ? null : countTests({ passed: 0, failed: 0, skipped: 0 }), failing }
  },
}
