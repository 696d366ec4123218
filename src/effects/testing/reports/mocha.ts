import { countTests, matchLines, type ReportReader, sumCounts } from './report.ts'

const PASSING = /^ {2}(\d{1,9}) passing \(/
const OTHER = /^ {2}(\d{1,9}) (pending|failing)$/

/** Mocha, and Cypress, which prints as it does. */
export const mocha: ReportReader = {
  runner: 'mocha',
  sign: /^ {2}\d+ passing \(|^Error: No test files found/m,
  read({ lines }) {
    const passed = matchLines(lines, PASSING).map(([, number]) =>
      countTests({ passed: Number(number), failed: 0, skipped: 0 }),
    )
    const others = matchLines(lines, OTHER).map(([, number, word]) =>
      word === 'failing'
        ? countTests({ passed: 0, failed: Number(number), skipped: 0 })
        : countTests({ passed: 0, failed: 0, skipped: Number(number) }),
    )
    return { counts: sumCounts([...passed, ...others]), failing: failingIn(lines) }
  },
}

/** Titles are printed one below the other, the last with a colon. */
function failingIn(lines: readonly string[]): readonly string[] {
  const failing: string[] = []
  const start = lines.findIndex((line) => /^ {2}\d+ failing$/.test(line))
  let titles: string[] | undefined
  for (const line of start < 0 ? [] : lines.slice(start + 1)) {
    const first = /^ {2}\d+\) (.*)$/.exec(line)?.[1]
    if (first !== undefined) titles = [first]
    else if (line.trim() === '') titles = undefined
    else titles?.push(line.trim())
    if (!titles?.at(-1)?.endsWith(':')) continue
    failing.push(titles.join(' > ').slice(0, -1))
    titles = undefined
  }
  return failing
}
