import { countTests, matchLines, type ReportReader, sumCounts } from './report.ts'

const RESULT =
  /^test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; (\d{1,9}) measured/

/** cargo test. Every target has a result of its own, most often one without tests among them. */
export const cargo: ReportReader = {
  runner: 'cargo',
  sign: /^test result: (?:ok|FAILED)\. \d/m,
  read({ lines }) {
    const counts = matchLines(lines, RESULT).map((match) => {
      const [passed = 0, failed = 0, skipped = 0, measured = 0] = match.slice(1).map(Number)
      return countTests({ passed: passed + measured, failed, skipped })
    })
    return { counts: sumCounts(counts), failing: failingIn(lines) }
  },
}

function failingIn(lines: readonly string[]): readonly string[] {
  const failing = new Set<string>()
  let listing = false
  for (const line of lines) {
    if (line === 'failures:') listing = true
    else if (listing && line.startsWith('    ')) failing.add(line.trim())
    else listing = false
  }
  return [...failing]
}
