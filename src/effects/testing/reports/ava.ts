import { countTests, matchLines, namesOf, type ReportReader, sumCounts } from './report.ts'

const COUNT =
  /^ {2}(\d{1,9}) (?:tests? (passed|failed|skipped|todo)|(known|uncaught|unhandled) [a-z]+)$/

/** AVA. A test that is known to fail, and does, has passed. */
export const ava: ReportReader = {
  runner: 'ava',
  sign: /^ {2}(?:\d+ tests? (?:passed|failed)$|✘ (?:No tests found in|Couldn.t find any files))/m,
  read({ lines }) {
    const counts = matchLines(lines, COUNT).map(([, digits, word, other]) => {
      const number = Number(digits)
      const passed = word === 'passed' || other === 'known' ? number : 0
      const skipped = word === 'skipped' || word === 'todo' ? number : 0
      return countTests({ passed, skipped, failed: passed + skipped === 0 ? number : 0 })
    })
    return {
      counts: sumCounts(counts),
      failing: namesOf(matchLines(lines, /^ +✘ \[fail\]: (.*)$/)),
    }
  },
}
