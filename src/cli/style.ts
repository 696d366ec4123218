type Paint = (text: string) => string

/** The few styles that our output uses. */
export interface Style {
  readonly bold: Paint
  readonly dim: Paint
  readonly good: Paint
  readonly warn: Paint
}

/** Styles for a stream: plain unless it is a terminal with colours and NO_COLOR is not set. */
export function styleFor(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'hasColors'>): Style {
  const coloured = stream.isTTY && stream.hasColors()
  const paint = (on: number, off: number): Paint =>
    coloured ? (text) => `\x1b[${on}m${text}\x1b[${off}m` : (text) => text
  return { bold: paint(1, 22), dim: paint(2, 22), good: paint(32, 39), warn: paint(33, 39) }
}
