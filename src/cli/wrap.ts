import { stripVTControlCharacters } from 'node:util'

/** Breaks text at spaces into lines of at most `width`, and no line within a word. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  const isOver = (text: string) => stripVTControlCharacters(text).length > width
  for (const word of text.split(' ')) {
    if (line !== '' && isOver(`${line} ${word}`)) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}

/** The same, but at most `linesMax` lines; where words are left out, the last one ends with `…`. */
export function wrapShort(text: string, width: number, linesMax: number): string[] {
  const lines = wrap(text, width)
  if (lines.length <= linesMax) return lines
  const last = lines[linesMax - 1] ?? ''
  const short = last.length + 2 <= width ? last : last.slice(0, Math.max(0, last.lastIndexOf(' ')))
  return [...lines.slice(0, linesMax - 1), `${short} …`.trimStart()]
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
