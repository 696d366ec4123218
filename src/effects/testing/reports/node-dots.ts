import { countTests, type ReportReader } from './report.ts'

/**
 * The reporter `dot` of Node: a dot for each test that passed or was skipped, an X for each that
 * failed, and no summary. Read only where the command is known to print so. A file that defines no
 * test has its dot too.
 */
export const nodeDots: ReportReader = {
  runner: 'node:test',
  sign: /^/,
  unless: /^(?:#|ℹ) cancelled \d/m,
  read({ lines }) {
    const marks = lines.filter((line) => /^[.X]+$/.test(line)).join('')
    const failed = marks.replaceAll('.', '').length
    return {
      counts: countTests({ passed: marks.length - failed, failed, skipped: 0 }),
      failing: [],
    }
  },
}
