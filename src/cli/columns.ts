const GAP = '  '
const MIN_COLUMN_WIDTH = 12

type Paint = (text: string) => string

/**
 * Lays rows out in aligned columns, without trailing spaces. Cells are wrapped at words when the
 * rows would be wider than `width`; the widest columns give way first.
 */
export function layOut(rows: readonly string[][], width: number, paints: Paint[] = []): string {
  const widths = fitWidths(rows, width)
  return rows
    .flatMap((row) => {
      const cells = row.map((cell, column) => wrap(cell, widths[column] ?? 0))
      const height = Math.max(...cells.map((lines) => lines.length))
      return Array.from({ length: height }, (_, line) =>
        layOutLine(
          cells.map((lines) => lines[line] ?? ''),
          widths,
          paints,
        ),
      )
    })
    .join('\n')
}

function layOutLine(cells: string[], widths: number[], paints: Paint[]): string {
  const last = cells.findLastIndex((cell) => cell !== '')
  return cells
    .slice(0, last + 1)
    .map((cell, column) => {
      const padding = column === last ? '' : ' '.repeat((widths[column] ?? 0) - cell.length)
      return (paints[column]?.(cell) ?? cell) + padding
    })
    .join(GAP)
}

function fitWidths(rows: readonly string[][], width: number): number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const total = () => widths.reduce((sum, w) => sum + w, 0) + GAP.length * (columns - 1)
  while (total() > width) {
    const widest = Math.max(...widths)
    if (widest <= MIN_COLUMN_WIDTH) break
    widths[widths.indexOf(widest)] = widest - 1
  }
  return widths
}

/** Breaks text at spaces into lines of at most `width`; a longer word is cut. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    let rest = word
    if (line !== '' && line.length + 1 + rest.length > width) {
      lines.push(line)
      line = ''
    }
    while (rest.length > width) {
      lines.push(rest.slice(0, width))
      rest = rest.slice(width)
    }
    line = line === '' ? rest : `${line} ${rest}`
  }
  return [...lines, line]
}
