/**
 * What git writes around the two sides of a conflict. It labels them with the commits that it was
 * given, so that no text has such a line by chance.
 */
const LABELLED =
  /^(?:[<>]{7,} [0-9a-f]{40}|\|{7,} (?:[0-9a-f]{7,40}|merged common ancestors|empty tree))(?=[:\r\n]|$)/m
const OPENING = /^<{7,} [0-9a-f]{40}(?=[:\r\n]|$)/gm
/** Between the sides; a heading may be underlined in the same way. */
const BETWEEN = /^={7}\r?$/gm

/** Whether a text still holds marks of a conflict. */
export function hasMarks(text: string): boolean {
  return LABELLED.test(text)
}

/** How many conflicts are marked in a text. */
export function countMarks(text: string): number {
  return countOf(text, OPENING)
}

/** Whether a text has more lines between two sides than it had beside its conflicts. */
export function hasSeparator(text: string, marked: string): boolean {
  return countOf(text, BETWEEN) > countOf(marked, BETWEEN) - countMarks(marked)
}

function countOf(text: string, line: RegExp): number {
  return text.match(line)?.length ?? 0
}
