/** The columns of a stream's terminal; `otherwise` where it is none, or one that tells no size. */
export function columnsOf(
  { columns }: Pick<NodeJS.WriteStream, 'columns'>,
  otherwise = Infinity,
): number {
  // A terminal that nobody has given a size says 0.
  return columns || otherwise
}

/** The same of its rows. */
export function rowsOf({ rows }: Pick<NodeJS.WriteStream, 'rows'>, otherwise: number): number {
  return rows || otherwise
}
