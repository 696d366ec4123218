import type { Transition } from '../../src/machines/table.ts'

/** Reads `FROM: TO TO` lines, written down by hand from a document, as `FROM→TO` pairs. */
export function readMatrix(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [from = '', targets = ''] = line.trim().split(/:\s*/)
      const names = targets.split(/\s+/).filter((name) => name !== '')
      return names.map((to) => `${from}→${to}`)
    })
    .sort()
}

/** The distinct pairs of a table's rows, in the same form. */
export function pairsOf(rows: readonly Transition[]): string[] {
  return [...new Set(rows.map(({ from, to }) => `${from}→${to}`))].sort()
}
