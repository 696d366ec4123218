import { countTests, matchLines, namesOf, type ReportReader, sumCounts } from './report.ts'

// `Chrome 120.0 (Linux): Executed 3 of 4 (1 FAILED) (skipped 1) (0.02 secs / 0.01 secs)`
const EXECUTED = /^(\S.*?): Executed (\d{1,9}) of \d+(.*)$/

/** Karma, which says how far each browser is, again and again in one place. */
export const karma: ReportReader = {
  runner: 'karma',
  sign: /^\S.*: Executed \d+ of \d+/m,
  read({ lines }) {
    const last = new Map<string, RegExpExecArray>()
    for (const match of matchLines(lines, EXECUTED)) last.set(match[1] ?? '', match)
    const counts = [...last.values()].map(([, , executed, rest = '']) => {
      const failed = Number(/\((\d{1,9}) FAILED\)/.exec(rest)?.[1] ?? 0)
      const skipped = Number(/\(skipped (\d{1,9})\)/.exec(rest)?.[1] ?? 0)
      return countTests({ passed: Math.max(0, Number(executed) - failed), failed, skipped })
    })
    const failing = matchLines(lines, /^(?!.*: Executed )\S.*? \([^()]*\) (.*) FAILED$/)
    return { counts: sumCounts(counts), failing: namesOf(failing) }
  },
}
