import stringWidth from 'string-width'

/** A sequence that changes the style of what follows. */
const STYLING = new RegExp(`(${'\x1b'}\\[[0-9;]*m)`)

/** The signs of Chinese and Japanese, which are written without spaces. */
const SIGN = '[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}]'

/** Where a line may end: before a space, and between two signs, but for those that hold together. */
const BREAK = new RegExp(
  `(?= )|(?<=${SIGN})(?<!\\p{Ps})(?=${SIGN})(?![\\p{Pe}\\p{Po}\\p{Lm}\\p{M}])`,
  'u',
)

const characters = new Intl.Segmenter()

/** The columns that text takes in a terminal: none for styles and accents, two for wide signs. */
export function widthOf(text: string): number {
  return stringWidth(text)
}

/** Text with spaces behind it up to so many columns. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)))
}

/** A line of at most so many columns, marked with `…` where something is missing. */
export function cut(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line
  let left = columns - 1
  const kept = line.split(STYLING).map((part) => {
    if (part.startsWith('\x1b[')) return part
    let shown = ''
    for (const { segment } of left < 0 ? [] : characters.segment(part)) {
      left -= widthOf(segment)
      if (left < 0) return `${shown}…`
      shown += segment
    }
    return shown
  })
  return kept.join('')
}

/** Breaks text at spaces into lines of at most `width` columns, and no line within a word. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  let taken = 0
  for (const piece of text.split(BREAK)) {
    if (line !== '' && taken + widthOf(piece) > width) {
      lines.push(line)
      line = ''
      taken = 0
    }
    const added = line === '' && piece.startsWith(' ') ? piece.slice(1) : piece
    line += added
    taken += widthOf(added)
  }
  return [...lines, line]
}

/** The same, but at most `linesMax` lines; where words are left out, the last one ends with `…`. */
export function wrapShort(text: string, width: number, linesMax: number): string[] {
  const lines = wrap(text, width)
  if (lines.length <= linesMax) return lines
  const last = (lines[linesMax - 1] ?? '').split(BREAK)
  const isOver = () => widthOf(`${last.join('')} …`) > width
  while (last.length > 1 && isOver()) last.pop()
  const short = isOver() ? cut(`${last[0]}…`, width) : `${last.join('')} …`
  return [...lines.slice(0, linesMax - 1), short].slice(0, linesMax)
}

/** The columns that the longest piece of text takes which `wrap` leaves whole. */
export function longestPiece(text: string): number {
  return Math.max(...text.split(BREAK).map((piece) => widthOf(piece.replace(/^ /, ''))))
}

/**
 * Paragraphs for a stream: where it is a terminal, they are broken at words and not at its edge.
 * A line that is indented stays as it is, since it is a command to be copied.
 */
export function proseFor(
  { isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
  text: string,
): string {
  if (!isTTY || !columns) return text
  const broken = (line: string) => (line.startsWith(' ') ? [line] : wrap(line, columns))
  return text.split('\n').flatMap(broken).join('\n')
}

/** The same for words among which are no commands: what is indented is broken too, and stays so. */
export function indentedProseFor(
  { isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
  text: string,
): string {
  if (!isTTY || !columns) return text
  const broken = (line: string) => {
    const words = line.trimStart()
    const indent = line.slice(0, line.length - words.length)
    return wrap(words, columns - widthOf(indent)).map((each) => indent + each)
  }
  return text.split('\n').flatMap(broken).join('\n')
}
