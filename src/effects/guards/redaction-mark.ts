import { countRedacted } from './redaction.ts'

/**
 * Whether a text says the mark of what was taken out where it did not before. Where something of the
 * text before is not shown, a mark may stand in its place, and only lines that are there already may
 * have one. `clean` gives a text as it is shown.
 */
export function writesMark(
  before: string,
  after: string,
  clean: (text: string) => string,
): boolean {
  const marks = countRedacted(after)
  if (marks === 0) return false
  if (marks > countRedacted(before)) return true
  if (clean(before) === before) return false
  const there = new Set(linesOf(before))
  return linesOf(after).some((line) => countRedacted(line) > 0 && !there.has(line))
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/)
}
