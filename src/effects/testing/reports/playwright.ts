import { countTests, matchLines, type ReportReader, sumCounts } from './report.ts'

const SUMMARY = /^ {2}(\d{1,9}) (passed|failed|flaky|skipped|interrupted|did not run)(?: \(.*\))?$/

/** Playwright. A test that passed when it was tried again has passed. */
export const playwright: ReportReader = {
  runner: 'playwright',
  sign: /^Running \d+ tests? using \d+ workers?|^Error: No tests found/m,
  read({ lines }) {
    const counts = matchLines(lines, SUMMARY).map(([, number, word = '']) => {
      const count = (...words: string[]) => (words.includes(word) ? Number(number) : 0)
      return countTests({
        passed: count('passed', 'flaky'),
        failed: count('failed', 'interrupted'),
        skipped: count('skipped', 'did not run'),
      })
    })
    return { counts: sumCounts(counts), failing: failingIn(lines) }
  },
}

/** The summary names what failed, below its number. */
function failingIn(lines: readonly string[]): readonly string[] {
  const failing: string[] = []
  let listing = false
  for (const line of lines) {
    const word = SUMMARY.exec(line)?.[2]
    if (word !== undefined) listing = word === 'failed' || word === 'interrupted'
    else if (listing && line.startsWith('    ')) failing.push(line.replace(/[ ─]+$/, '').trim())
    else listing = false
  }
  return failing
}
