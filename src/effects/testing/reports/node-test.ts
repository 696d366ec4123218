import type { TestCounts } from '../test-result.ts'
import { countTests, matchLines, namesOf, type ReportReader, sumCounts } from './report.ts'

const SUMMARY = /^(?:#|ℹ) (tests|pass|fail|cancelled|skipped|todo) (\d{1,9})$/

/**
 * The test runner of Node, in its reporters `tap` and `spec`. A file that defines no test is
 * itself a test, which passes when the file ends well, and is reported under the path of the file,
 * in no other way: so is one that has assertions of its own, and so is one that does nothing.
 */
export const nodeTest: ReportReader = {
  runner: 'node:test',
  sign: /^(?:#|ℹ) cancelled \d/m,
  namesToLookUp: lonePasses,
  read({ lines, emptyFiles }) {
    const runs = summariesIn(lines)
    const nothing = lonePasses(lines).filter((name) => emptyFiles.has(name)).length
    const all = sumCounts(runs)
    const counts = countTests({ ...all, passed: Math.max(0, all.passed - nothing) })
    return { counts, failing: [...failingInTap(lines), ...failingInSpec(lines)] }
  },
}

/** Names of what passed at the top and holds no other test, as a file does that defines none. */
function lonePasses(lines: readonly string[]): readonly string[] {
  const names: string[] = []
  let open: string | undefined
  lines.forEach((line, at) => {
    open = /^▶ (.*)$/.exec(line)?.[1] ?? open
    const inSpec = /^✔ (.*?)(?: \([\d.]+ms\))?$/.exec(line)?.[1]
    const inTap = /^ok \d+ - (.*)$/.exec(line)?.[1]
    if (inSpec !== undefined && inSpec !== open) names.push(inSpec)
    if (inSpec !== undefined) open = undefined
    if (inTap !== undefined && !holdsOthers(lines, at)) names.push(unescapeTap(inTap))
  })
  return names
}

/** Whether a point of TAP sums others up: their plan stands before it, or it calls itself a suite. */
function holdsOthers(lines: readonly string[], at: number): boolean {
  const isAfterPlan = /^ +1\.\.\d+$/.test(lines[at - 1] ?? '')
  if (isAfterPlan || lines[at + 1]?.trim() !== '---') return isAfterPlan
  // Its duration, its kind, and the end.
  return lines.slice(at + 2, at + 6).some((line) => line === "  type: 'suite'")
}

function unescapeTap(name: string): string {
  return name.replace(/\\([\\#])/g, '$1')
}

function summariesIn(lines: readonly string[]): readonly TestCounts[] {
  const runs: Record<string, number>[] = []
  for (const [, key = '', number] of matchLines(lines, SUMMARY)) {
    if (key === 'tests' || runs.length === 0) runs.push({})
    const run = runs.at(-1)
    if (run) run[key] = Number(number)
  }
  return runs.map(({ pass = 0, fail = 0, cancelled = 0, skipped = 0, todo = 0 }) =>
    countTests({ passed: pass, failed: fail + cancelled, skipped: skipped + todo }),
  )
}

/** A test that failed only because a test inside it did is not named besides that one. */
function failingInTap(lines: readonly string[]): readonly string[] {
  const failing: string[] = []
  let name: string | undefined
  for (const line of lines) {
    const point = /^ *not ok \d+ - (.*)$/.exec(line)
    if (point) name = / # (?:SKIP|TODO)\b/.test(line) ? undefined : point[1]
    const type = /^ +failureType: '(\w+)'$/.exec(line)?.[1]
    if (name === undefined || type === undefined) continue
    if (type !== 'subtestsFailed') failing.push(name)
    name = undefined
  }
  return [...new Set(failing)]
}

function failingInSpec(lines: readonly string[]): readonly string[] {
  const start = lines.indexOf('✖ failing tests:')
  if (start < 0) return []
  return namesOf(matchLines(lines.slice(start + 1), /^✖ (.*?)(?: \([\d.]+ms\))?$/))
}
