import type { Span } from './span.ts'

const KEY_EDGE = /-----(BEGIN|END) [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** What a key has at least of its content in one piece; a mention of its first line has none. */
const KEY_CONTENT = /[A-Za-z0-9+/=]{24}/
const KEY_PIECES = /[A-Za-z0-9+/=]{24,32768}/g
/** How much of what is between its edges a key is at the least; beside it are paths and quotes. */
const KEY_SHARE_MIN = 0.4
/** A key that was cut off: lines of content straight after its first one, which a diff may sign. */
const KEY_START =
  /(?:\s|\\{1,4}[nr]){0,8}-?[A-Za-z0-9+/=]{24}(?:[A-Za-z0-9+/=\s\\]|(?<=\n)-(?!-)){0,32768}/y
/** Before each line of a key: its number, the sign of a diff, and how far it is indented. */
const MARGIN = '(?:[ \\t]{0,8}\\d{1,9}[:\\t |-])?[-+]?[ \\t]{0,40}'
const MARGIN_CHARS_MAX = 64
const BEFORE_EDGE = new RegExp(`(?<=^|\\n|\\\\n)${MARGIN}$`)
const CONTENT = '[A-Za-z0-9+/=]{1,128}[ \\t\\r]{0,8}'
const KEY_FIELD = '(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash): [^\\n]{0,200}'
/** A key that was cut off whose lines have a margin, or fields before them. No name is its content. */
const KEY_ROWS = new RegExp(
  `[ \\t\\r]{0,8}\\n(?:${MARGIN}(?:${KEY_FIELD})?\\r?\\n){0,6}` +
    `${MARGIN}(?=[A-Za-z+/=]{0,99}\\d)[A-Za-z0-9+/=]{40,128}[ \\t\\r]{0,8}(?=\\n|$)` +
    `(?:\\n${MARGIN}${CONTENT}(?=\\n|$)){0,600}`,
  'y',
)
/** The same from behind: a line of content, of those straight before its last one. */
const KEY_LINE = new RegExp(`^${MARGIN}${CONTENT}$`)
const KEY_LINE_CHARS_MAX = 208
/** In a file, and inside JSON. */
const LINE_ENDS = ['\n', '\\n']
const KEY_CHARS_MAX = 32_768

/** The private keys in a text, whole or in part, in whatever margins, escapes and quotes. */
export function findPrivateKeys(text: string): readonly Span[] {
  return [...findPlainKeys(text), ...findEncodedKeys(text)]
}

/** Walks from edge to edge, so that a text with edges alone costs no more than another. */
function findPlainKeys(text: string): readonly Span[] {
  const spans: Span[] = []
  let begun: { readonly at: number; readonly contentAt: number } | undefined
  const cutOff = () => {
    if (begun === undefined) return undefined
    for (const content of [KEY_START, KEY_ROWS]) {
      content.lastIndex = begun.contentAt
      if (content.test(text)) return spans.push([begun.at, content.lastIndex])
    }
    return undefined
  }
  for (const match of text.matchAll(KEY_EDGE)) {
    const end = match.index + match[0].length
    const isWhole =
      match[1] === 'END' &&
      begun !== undefined &&
      end - begun.at <= KEY_CHARS_MAX &&
      isContent(text.slice(begun.contentAt, match.index))
    if (isWhole && begun !== undefined) spans.push([begun.at, end])
    else {
      cutOff()
      if (match[1] === 'END') spans.push(...findEnd(text, match.index, end))
    }
    begun = match[1] === 'BEGIN' ? { at: match.index, contentAt: end } : undefined
  }
  cutOff()
  return spans
}

/**
 * Whether what stands between the edges of a key is one, in whatever quotes, escapes and line
 * numbers, and not the code between two mentions of them, in which a long name is the exception.
 */
function isContent(text: string): boolean {
  const pieces = text.match(KEY_PIECES) ?? []
  const chars = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return chars > 0 && chars >= text.replaceAll(/\s+/g, '').length * KEY_SHARE_MIN
}

/** The rest of a key whose beginning was cut off, from its content to the end of its last line. */
function findEnd(text: string, edgeAt: number, end: number): readonly Span[] {
  const before = text.slice(Math.max(0, edgeAt - MARGIN_CHARS_MAX), edgeAt)
  const lineAt = edgeAt - (BEFORE_EDGE.exec(before)?.[0].length ?? 0)
  const starts = LINE_ENDS.map((lineEnd) => contentStart(text, lineAt, lineEnd))
  const start = Math.min(...starts)
  return KEY_CONTENT.test(text.slice(start, edgeAt)) ? [[start, end]] : []
}

function contentStart(text: string, edgeAt: number, lineEnd: string): number {
  let start = edgeAt
  while (edgeAt - start < KEY_CHARS_MAX && text.endsWith(lineEnd, start)) {
    const end = start - lineEnd.length
    const from = Math.max(0, end - KEY_LINE_CHARS_MAX)
    const before = text.slice(from, end).lastIndexOf(lineEnd)
    if (before === -1 && from > 0) return start
    const lineStart = before === -1 ? 0 : from + before + lineEnd.length
    if (!KEY_LINE.test(text.slice(lineStart, end))) return start
    start = lineStart
  }
  return start
}

/** How the first line of anything in such a form begins, in base64. */
const ENCODED_START =
  /LS0tLS1CRUdJTi(?:[A-Za-z0-9+/]|\r?\n[ \t]{0,40}(?=[A-Za-z0-9+/]{1,128}={0,2}[ \t\r]{0,8}(?:\n|$))){20,32768}={0,2}/g
const FIRST_LINE_CHARS = 64

/** Private keys in base64, as Kubernetes has them, but no certificates. */
function findEncodedKeys(text: string): readonly Span[] {
  return [...text.matchAll(ENCODED_START)].flatMap((match) => {
    const first = Buffer.from(match[0].slice(0, FIRST_LINE_CHARS), 'base64').toString('latin1')
    return first.includes('PRIVATE KEY') ? [[match.index, match.index + match[0].length]] : []
  })
}
