import type { Span } from './secret-patterns.ts'

/** What somebody put in the place of the middle of a secret, or of all but one end. */
const MASKS = ['..', '…', '**']

/** Of what is left of a secret beside a mask, as much as this is too much to be shown. */
const PART_CHARS_MIN = 8

/** `sk-proj-` and its like begin many keys, and stand in every example. */
const OPENING = /^(?:[a-z]{2,12}\d{0,2}[-_])+/i
const OWN_CHARS_MIN = 4

/** The beginnings of secrets right before a mask, and their ends right after one. */
export function findMasked(text: string, values: readonly string[]): readonly Span[] {
  if (!MASKS.some((mask) => text.includes(mask))) return []
  return values
    .filter((value) => value.length > PART_CHARS_MIN)
    .flatMap((value) => [...beginnings(text, value), ...endings(text, value)])
}

function beginnings(text: string, value: string): readonly Span[] {
  const charsMin = Math.max(PART_CHARS_MIN, openingOf(value) + OWN_CHARS_MIN)
  const first = value.slice(0, PART_CHARS_MIN)
  const spans: Span[] = []
  for (let start = text.indexOf(first); start >= 0; ) {
    let chars = PART_CHARS_MIN
    while (chars < value.length && text[start + chars] === value[chars]) chars += 1
    const end = start + chars
    const isPart = chars < value.length && chars >= charsMin
    if (isPart && MASKS.some((mask) => text.startsWith(mask, end))) spans.push([start, end])
    start = text.indexOf(first, chars === value.length ? end : start + 1)
  }
  return spans
}

function endings(text: string, value: string): readonly Span[] {
  const last = value.slice(-PART_CHARS_MIN)
  const spans: Span[] = []
  for (let found = text.indexOf(last); found >= 0; found = text.indexOf(last, found + 1)) {
    const end = found + last.length
    let chars = PART_CHARS_MIN
    while (chars < value.length && text[end - chars - 1] === value.at(-chars - 1)) chars += 1
    const start = end - chars
    if (chars < value.length && MASKS.some((mask) => text.endsWith(mask, start))) {
      spans.push([start, end])
    }
  }
  return spans
}

/** How many characters of a secret everybody knows who knows whose key it is. */
function openingOf(value: string): number {
  return OPENING.exec(value)?.[0].length ?? 0
}
