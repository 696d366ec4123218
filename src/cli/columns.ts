import { longestPiece, padTo, widthOf, wrap } from './terminal-text.ts'

const GAP = '  '

type Paint = (text: string) => string

/**
 * Lays rows out in aligned columns, without trailing spaces. Cells are wrapped at words when the
 * rows would be wider than `width`; the widest columns give way first, none below its longest word.
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
      const padding = column === last ? '' : padTo(cell, widths[column] ?? 0).slice(cell.length)
      return (paints[column]?.(cell) ?? cell) + padding
    })
    .join(GAP)
}

function fitWidths(rows: readonly string[][], width: number): number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const cells = (column: number) => rows.map((row) => row[column] ?? '')
  const longest = (texts: string[], measure: typeof widthOf) => Math.max(...texts.map(measure))
  const widths = Array.from({ length: columns }, (_, column) => longest(cells(column), widthOf))
  const leasts = widths.map((_, column) => longest(cells(column), longestPiece))
  const total = () => widths.reduce((sum, each) => sum + each, 0) + GAP.length * (columns - 1)
  while (total() > width) {
    const slack = widths.map((each, column) => (each > (leasts[column] ?? 0) ? each : 0))
    const widest = Math.max(...slack)
    if (widest === 0) break
    widths[slack.indexOf(widest)] = widest - 1
  }
  return widths
}
