/** The word that was probably meant: one that a few slips away. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const slipsMax = word.length <= 4 ? 1 : word.length <= 8 ? 2 : 3
  const distances = known.map((each) => ({ each, slips: slipsBetween(word, each) }))
  const [best] = distances.sort((a, b) => a.slips - b.slips)
  return best !== undefined && best.slips <= slipsMax ? best.each : undefined
}

/** How many letters have to be added, dropped, changed or swapped with the next; case is free. */
function slipsBetween(one: string, other: string): number {
  const [a, b] = [one.slice(0, 64).toLowerCase(), other.toLowerCase()]
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j += 1) {
      const change = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = i > 1 && j > 1 && isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(change, swap, at(i - 1, j) + 1, at(i, j - 1) + 1))
    }
  }
  return at(a.length, b.length)
}
