import { reversed, walkBeginnings } from './beginnings.ts'
import { findMasked } from './masked-secrets.ts'
import { formsOf, type SecretForms } from './secret-forms.ts'
import { findLookalikes } from './secret-patterns.ts'
import type { Span } from './span.ts'

/** What stands in the place of what was taken out. */
export const REDACTED = '[redacted]'

/** Of a secret that was cut off with its text, as much as this is too much to be shown. */
const CUT_CHARS_MIN = 8

/** A form of a secret that is longer is not looked for by a search, which may go back and forth. */
const SEARCHED_CHARS_MAX = 256

/**
 * The door for every text that is stored, printed, shown or sent: known values and what looks like
 * a secret are replaced. Known values are also found as base64, hexadecimal, percent-encoded, in
 * markup and inside JSON, where the text begins or ends within one, and where somebody left out its
 * middle.
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  return replace(text, findSecrets(text, secrets), () => REDACTED)
}

/** The same, but what is taken out is so line by line: each stays where it was. */
export function redactByLine(text: string, secrets: readonly string[] = []): string {
  const markOf = (hidden: string) => hidden.replaceAll(/[^\n]+/g, REDACTED)
  return replace(text, findSecrets(text, secrets), markOf)
}

function findSecrets(text: string, secrets: readonly string[]): readonly Span[] {
  const forms = secrets.flatMap(formsOf)
  const masked = findMasked(
    text,
    forms.map(({ value }) => value),
  )
  return [
    ...findLookalikes(text),
    ...findKnown(text, forms),
    ...findWrapped(text, forms),
    ...masked,
  ]
}

/** Whether a known value is in a text as a whole, in any of the forms that `redact` knows. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  const known = secrets.flatMap(formsOf)
  const isThere = known.some(({ forms }) => forms.some((form) => text.includes(form)))
  return isThere || findWrapped(text, known).length > 0
}

/** How often the mark of what was taken out is in a text, whoever put it there. */
export function countRedacted(text: string): number {
  return text.split(REDACTED).length - 1
}

function replace(text: string, spans: readonly Span[], markOf: (hidden: string) => string): string {
  const pieces: string[] = []
  let shownTo = 0
  for (const [start, end] of joined(spans)) {
    pieces.push(text.slice(shownTo, start), markOf(text.slice(start, end)))
    shownTo = end
  }
  return [...pieces, text.slice(shownTo)].join('')
}

/** In order, and as one where they touch. */
function joined(spans: readonly Span[]): readonly Span[] {
  const apart: Span[] = []
  for (const [start, end] of [...spans].sort(([a], [b]) => a - b)) {
    const last = apart.at(-1)
    if (last === undefined || start > last[1]) apart.push([start, end])
    else apart.splice(-1, 1, [last[0], Math.max(last[1], end)])
  }
  return apart
}

function findKnown(text: string, secrets: readonly SecretForms[]): readonly Span[] {
  const spans: Span[] = []
  for (const { value, forms } of secrets) {
    for (const form of forms)
      findAll(text, form, (start) => spans.push([start, start + form.length]))
    spans.push(...findCut(text, value))
  }
  return spans
}

function findAll(text: string, form: string, found: (at: number) => void): void {
  if (form.length > SEARCHED_CHARS_MAX) {
    findLong(text, form, found)
    return
  }
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) found(at)
}

/** The same in one walk, for a form that may be alike at so many places that a search takes long. */
function findLong(text: string, form: string, found: (at: number) => void): void {
  if (!text.includes(form.slice(0, SEARCHED_CHARS_MAX))) return
  let foundTo = 0
  walkBeginnings(text, form, (chars, end) => {
    const start = end - chars
    if (chars < form.length - 1 || text[end] !== form.at(-1) || start < foundTo) return
    found(start)
    foundTo = start + form.length
  })
}

/** At least half of a secret, at an end of the text that somebody has shortened. */
function findCut(text: string, value: string): readonly Span[] {
  const charsMin = Math.max(CUT_CHARS_MIN, Math.ceil(value.length / 2))
  const charsMax = value.length - 1
  if (charsMax < charsMin) return []
  const spans: Span[] = []
  const [head, tail] = [text.slice(0, charsMax), text.slice(-charsMax)]
  if (tail.includes(value.slice(0, CUT_CHARS_MIN))) {
    const chars = overlapOf(tail, value)
    if (chars >= charsMin) spans.push([text.length - chars, text.length])
  }
  if (head.includes(value.slice(-CUT_CHARS_MIN))) {
    const chars = overlapOf(reversed(head), reversed(value))
    if (chars >= charsMin) spans.push([0, chars])
  }
  return spans
}

/** How much of the beginning of a value a text ends with. */
function overlapOf(text: string, value: string): number {
  let overlap = 0
  walkBeginnings(text, value, (chars, end) => {
    if (end === text.length) overlap = chars
  })
  return overlap
}

const BASE64_LINE_END = /[A-Za-z0-9+/_-]{20}(?:\r?\n|(?:\\r)?\\n)[ \t]{0,40}[A-Za-z0-9+/_-]/
const LINE_BREAK = /(?<=[A-Za-z0-9+/_-])(?:\r?\n|(?:\\r)?\\n)[ \t]{0,40}(?=[A-Za-z0-9+/_-])/g

/** Programs that print base64 break it into lines of 64 or 76 characters. */
function findWrapped(text: string, secrets: readonly SecretForms[]): readonly Span[] {
  if (secrets.length === 0 || !BASE64_LINE_END.test(text)) return []
  const { joined, originOf } = joinLines(text)
  const spans: Span[] = []
  for (const form of secrets.flatMap(({ wrapped }) => wrapped)) {
    findAll(joined, form, (start) =>
      spans.push([originOf(start), originOf(start + form.length - 1) + 1]),
    )
  }
  return spans
}

function joinLines(text: string): { joined: string; originOf(at: number): number } {
  const pieces: string[] = []
  /** Where each piece begins, in what is joined and in the text. */
  const joinedStarts: number[] = []
  const starts: number[] = []
  let length = 0
  let from = 0
  const add = (to: number) => {
    joinedStarts.push(length)
    starts.push(from)
    pieces.push(text.slice(from, to))
    length += to - from
  }
  for (const match of text.matchAll(LINE_BREAK)) {
    add(match.index)
    from = match.index + match[0].length
  }
  add(text.length)
  const originOf = (at: number) => {
    let piece = 0
    for (let high = starts.length; high - piece > 1; ) {
      const middle = (piece + high) >> 1
      if ((joinedStarts[middle] as number) <= at) piece = middle
      else high = middle
    }
    return (starts[piece] as number) + at - (joinedStarts[piece] as number)
  }
  return { joined: pieces.join(''), originOf }
}
