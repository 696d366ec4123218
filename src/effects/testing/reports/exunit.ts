import {
  countOfTotal,
  matchLines,
  namesOf,
  numberOf,
  type ReportReader,
  sumCounts,
} from './report.ts'

const SUMMARY = /^((?:\d+ [a-z]+, )+)(\d+ failures?(?:, \d+ (?:excluded|invalid|skipped))*)$/

/** ExUnit, the runner of Elixir. Its total includes what was excluded. */
export const exunit: ReportReader = {
  runner: 'exunit',
  sign: /^(?:\d+ (?:doctests?|features?|properties|property|tests?), )+\d+ failures?(?:, \d+ (?:excluded|invalid|skipped))*$|^There are no tests to run$/m,
  read({ lines }) {
    const counts = matchLines(lines, SUMMARY).map(([, kinds = '', text = '']) => {
      const total = numberOf(kinds, ...KINDS)
      const failed = numberOf(text, 'failure', 'failures', 'invalid')
      return countOfTotal(total, failed, numberOf(text, 'skipped', 'excluded'))
    })
    const names = matchLines(lines, /^ {2}\d+\) ((?:doctest|feature|property|test) .*)$/)
    return { counts: sumCounts(counts), failing: namesOf(names) }
  },
}

const KINDS = [
  'test',
  'tests',
  'doctest',
  'doctests',
  'feature',
  'features',
  'property',
  'properties',
]
