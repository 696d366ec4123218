import { styleText } from 'node:util'

type Paint = (text: string) => string

/** The few styles that our output uses. */
export interface Style {
  readonly bold: Paint
  readonly dim: Paint
  readonly good: Paint
  readonly warn: Paint
}

/** Styles for a stream: plain unless it is a terminal with colours and NO_COLOR is not set. */
export function styleFor(stream: NodeJS.WriteStream): Style {
  const paint = (format: Parameters<typeof styleText>[0]): Paint =>
    stream.isTTY && stream.hasColors() ? (text) => styleText(format, text) : (text) => text
  return { bold: paint('bold'), dim: paint('dim'), good: paint('green'), warn: paint('yellow') }
}
