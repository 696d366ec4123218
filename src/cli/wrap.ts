/** Breaks text at spaces into lines of at most `width`, and no line within a word. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
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
  const short = last.length + 2 <= width ? last : last.slice(0, last.lastIndexOf(' '))
  return [...lines.slice(0, linesMax - 1), `${short} …`]
}
