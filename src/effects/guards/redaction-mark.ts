import { countRedacted } from './redaction.ts'

/**
 * Whether a text says the mark of what was taken out where it did not before. That is certain when
 * it says it more often. Where a line is gone that was not shown as it is, the mark may stand in its
 * place: then a line with a mark has to have been there, and not to look like the one that is gone.
 * `clean` gives a text as it is shown.
 */
export function writesMark(
  before: string,
  after: string,
  clean: (text: string) => string,
): boolean {
  const written = linesOf(after)
  const marked = written.filter(hasMark)
  if (marked.length === 0) return false
  if (countRedacted(after) > countRedacted(before)) return true
  const there = linesOf(before)
  const shown = linesOf(clean(before))
  const [isWritten, isShown] = [new Set(written), new Set(shown)]
  const isLost = there.some((line) => !isShown.has(line) && !isWritten.has(line))
  if (!isLost) return false
  const literal = countOf(there)
  const forms = [...countOf(shown)].filter(([line, count]) => count > (literal.get(line) ?? 0))
  const standIns = new Set(forms.map(([line]) => line))
  return marked.some((line) => !literal.has(line) || standIns.has(line))
}

/** How often each line with a mark is there. */
function countOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const line of lines.filter(hasMark)) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

function hasMark(line: string): boolean {
  return countRedacted(line) > 0
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/)
}
