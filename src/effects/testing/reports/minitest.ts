import { countOfTotal, matchLines, numberOf, type ReportReader, sumCounts } from './report.ts'

const SUMMARY = /^(\d{1,9}) (?:runs|tests), \d+ assertions, (\d+ failures, \d+ errors, .*)$/

/** Minitest, which Rails uses, and test-unit. */
export const minitest: ReportReader = {
  runner: 'minitest',
  sign: /^\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors, /m,
  read({ lines }) {
    const counts = matchLines(lines, SUMMARY).map(([, total, text = '']) =>
      countOfTotal(
        Number(total),
        numberOf(text, 'failures', 'errors'),
        numberOf(text, 'skips', 'pendings', 'omissions'),
      ),
    )
    return { counts: sumCounts(counts), failing: [...inMinitest(lines), ...inTestUnit(lines)] }
  },
}

/** The name is on the line after its heading, with the place behind it. */
function inMinitest(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line, at) => {
    if (!/^ *(?:\d+\) )?(?:Failure|Error):$/.test(line)) return []
    const name = /^([^\s#]+#.+?)(?: \[.*)?:$/.exec(lines[at + 1] ?? '')?.[1]
    return name === undefined ? [] : [name]
  })
}

function inTestUnit(lines: readonly string[]): readonly string[] {
  const matches = matchLines(lines, /^(?:Failure|Error): (.+)\((\w[\w:]*)\)/)
  return matches.map(([, test, suite]) => `${suite}#${test}`)
}
