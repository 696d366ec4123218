import { countTests, matchLines, type Printed, type ReportReader } from './report.ts'

// Deeper ones than anybody writes would only cost time.
const POINT = /^( {0,64})(not )?ok\b(?: (\d+))?(?: -)?(.*)$/
const DIRECTIVE = / # (skip|todo)/i

interface Point {
  readonly indent: number
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
}

/** The Test Anything Protocol, whoever speaks it. Tests with tests inside them are not counted. */
export const tap: ReportReader = {
  runner: 'tap',
  sign: /^TAP version \d|^1\.\.\d+(?: |$)/m,
  // These speak it too, and say in a summary what it means.
  unless: /^(?:#|ℹ) cancelled \d|^Files=\d+, Tests=\d+|^# \{ total: \d/m,
  read(printed) {
    const { points, top } = pointsIn(printed.lines)
    const of = (outcome: Point['outcome']) => points.filter((point) => point.outcome === outcome)
    const failing = of('failed').map((point) => point.name)
    const unrun = Math.max(0, planned(printed) - top)
    if (unrun > 0) failing.push(`${unrun} planned and not run`)
    for (const [text] of matchLines(printed.lines, /^ *Bail out!.*$/)) failing.push(text.trim())
    return {
      counts: countTests({
        passed: of('passed').length,
        failed: Math.max(failing.length, of('failed').length + unrun),
        skipped: of('skipped').length,
      }),
      failing: [...new Set(failing)],
    }
  },
}

/** How many tests the plans promise at the outermost level. */
function planned({ lines, complete }: Printed): number {
  // What was dropped may have been the rest of them.
  if (!complete) return 0
  return matchLines(lines, /^1\.\.(\d{1,9})(?: |$)/).reduce(
    (sum, match) => sum + Number(match[1]),
    0,
  )
}

function pointsIn(lines: readonly string[]): { points: readonly Point[]; top: number } {
  const points: Point[] = []
  let top = 0
  let quoted: string | undefined
  for (const line of lines) {
    // Between the marks are details, where any text may stand.
    if (quoted !== undefined) {
      if (line === `${quoted}...`) quoted = undefined
      continue
    }
    if (/^ +---$/.test(line)) quoted = line.slice(0, -3)
    const match = POINT.exec(line)
    if (match === null) continue
    if (match[1] === '') top += 1
    addPoint(points, toPoint(match))
  }
  return { points, top }
}

function toPoint([, indent = '', not, number = '', text = '']: RegExpExecArray): Point {
  const skipped = DIRECTIVE.test(text)
  const name = text.replace(/ # .*$/, '').trim() || `test ${number}`
  const outcome = skipped ? 'skipped' : not === undefined ? 'passed' : 'failed'
  return { indent: indent.length, name, outcome }
}

/** Adds a point, unless it only sums up the deeper ones before it. */
function addPoint(points: Point[], point: Point): void {
  const before = points.at(-1)
  if (before === undefined || before.indent <= point.indent) {
    points.push(point)
    return
  }
  let failed = false
  for (let at = points.length - 1; at >= 0; at -= 1) {
    const inner = points[at]
    if (inner === undefined || inner.indent <= point.indent) break
    failed ||= inner.outcome === 'failed'
    // From now on they stand at the level of the point that they belong to.
    points[at] = { ...inner, indent: point.indent }
  }
  if (point.outcome === 'failed' && !failed) points.push(point)
}
