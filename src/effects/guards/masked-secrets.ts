import { reversed, walkBeginnings } from './beginnings.ts'
import type { Span } from './span.ts'

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
  const long = values.filter((value) => value.length > PART_CHARS_MIN)
  return [...beginnings(text, long), ...endings(text, long)]
}

function beginnings(text: string, values: readonly string[]): readonly Span[] {
  const spans: Span[] = []
  for (const value of values) {
    // Most are nowhere, which is seen at once.
    if (!text.includes(value.slice(0, PART_CHARS_MIN))) continue
    const charsMin = Math.max(PART_CHARS_MIN, openingOf(value) + OWN_CHARS_MIN)
    walkBeginnings(text, value, (chars, end) => {
      if (chars < charsMin || !MASKS.some((mask) => text.startsWith(mask, end))) return
      spans.push([end - chars, end])
    })
  }
  return spans
}

function endings(text: string, values: readonly string[]): readonly Span[] {
  const there = values.filter((value) => text.includes(value.slice(-PART_CHARS_MIN)))
  if (there.length === 0) return []
  const [spans, backwards]: [Span[], string] = [[], reversed(text)]
  for (const value of there) {
    walkBeginnings(backwards, reversed(value), (chars, end) => {
      const start = text.length - end
      if (chars < PART_CHARS_MIN || !MASKS.some((mask) => text.endsWith(mask, start))) return
      spans.push([start, start + chars])
    })
  }
  return spans
}

/** How many characters of a secret everybody knows who knows whose key it is. */
function openingOf(value: string): number {
  return OPENING.exec(value)?.[0].length ?? 0
}
