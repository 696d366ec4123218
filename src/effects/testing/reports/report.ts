import type { TestCounts } from '../test-result.ts'

/** What a runner printed: plain lines of a bounded length. */
export interface Printed {
  readonly lines: readonly string[]
  /** False when a part of it was dropped. */
  readonly complete: boolean
  /** Which of the names that a reader wanted to have looked up are those of files that do nothing. */
  readonly emptyFiles: ReadonlySet<string>
}

/** What a runner says about one run of its own. */
export interface RunnerReport {
  /** Null when it says that tests ran, and not how many. */
  readonly counts: TestCounts | null
  readonly failing: readonly string[]
}

/** Reads the output of one family of runners. */
export interface ReportReader {
  readonly runner: string
  /** What its output always has; a cheap test that comes before the reading. */
  readonly sign: RegExp
  /** What shows that the output is another family's, although it looks like this one's. */
  readonly unless?: RegExp
  /** Names in its report that mean something else if they are those of files that do nothing. Never throws. */
  namesToLookUp?(lines: readonly string[]): readonly string[]
  /** Undefined when it is not this family's output after all. Never throws. */
  read(printed: Printed): RunnerReport | undefined
}

/** Counts of tests that passed and failed; those that were skipped were not executed. */
export function countTests(seen: {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}): TestCounts {
  return { executed: seen.passed + seen.failed, ...seen }
}

/** Counts where a runner gives the total. What failed outside any test may exceed it. */
export function countOfTotal(total: number, failed: number, skipped: number): TestCounts {
  return countTests({ passed: Math.max(0, total - failed - skipped), failed, skipped })
}

/** All counts together. */
export function sumCounts(all: readonly TestCounts[]): TestCounts {
  const sum = (key: keyof TestCounts) => all.reduce((total, counts) => total + counts[key], 0)
  return countTests({ passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') })
}

/** The matches of an expression, at most one in a line. */
export function matchLines(lines: readonly string[], expression: RegExp): RegExpExecArray[] {
  return lines.map((line) => expression.exec(line)).filter((match) => match !== null)
}

/** Sums the numbers that stand before any of the words, as in `2 failed, 1 passed`. */
export function numberOf(text: string, ...words: string[]): number {
  let sum = 0
  for (const [, number, word = ''] of text.matchAll(/(\d{1,9}) ([a-z]+)/g)) {
    if (words.includes(word)) sum += Number(number)
  }
  return sum
}

/** The number that stands after a label, as in `Failures: 2`; 0 without it. */
export function labelled(text: string, label: string): number {
  const at = text.indexOf(`${label}: `)
  if (at < 0) return 0
  return Number(/^ *(\d{1,9})/.exec(text.slice(at + label.length + 1))?.[1] ?? 0)
}

/** First groups of matches, each once, in order. */
export function namesOf(matches: readonly RegExpExecArray[]): string[] {
  return [...new Set(matches.map((match) => (match[1] ?? '').trim()))]
}

/** Sums up lines such as `Tests  1 failed | 2 passed`, as Jest and Vitest print them. */
export function countLabelled(lines: readonly string[], pattern: RegExp): TestCounts {
  return sumCounts(
    matchLines(lines, pattern).map(([, text = '']) =>
      countTests({
        passed: numberOf(text, 'passed'),
        failed: numberOf(text, 'failed'),
        skipped: numberOf(text, 'skipped', 'todo'),
      }),
    ),
  )
}
