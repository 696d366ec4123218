import { countOfTotal, matchLines, type ReportReader } from './report.ts'

/** prove, the harness of Perl. It counts what was skipped as passed. */
export const prove: ReportReader = {
  runner: 'prove',
  sign: /^Files=\d+, Tests=\d+/m,
  read({ lines }) {
    const totals = matchLines(lines, /^Files=\d+, Tests=(\d{1,9})/)
    const files = matchLines(lines, /^(\S+) +\(Wstat: .*Tests: \d+ Failed: (\d{1,9})\)$/)
    const broken = files.filter((file) => file[2] === '0').length
    const failed = files.reduce((sum, file) => sum + Number(file[2]), broken)
    const total = totals.reduce((sum, match) => sum + Number(match[1]), 0)
    return { counts: countOfTotal(total, failed, 0), failing: failingIn(lines) }
  },
}

function failingIn(lines: readonly string[]): readonly string[] {
  const failing: string[] = []
  let file = ''
  for (const line of lines) {
    const wstat = /^(\S+) +\(Wstat: /.exec(line)
    file = wstat?.[1] ?? file
    if (wstat && line.endsWith(' Failed: 0)')) failing.push(file)
    const tests = /^ {2}Failed tests?: +(.*)$/.exec(line)?.[1]
    if (tests !== undefined) failing.push(`${file} ${tests}`)
  }
  return failing
}
