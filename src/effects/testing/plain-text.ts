// Colours and cursor moves, window titles and links, device strings, and single escapes. Each part
// ends at the next escape at the latest, so that hostile output costs no more than its length.
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed here
  /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[ -/]*[0-~]?/g

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed here
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g

/** Output as lines of text: no escapes, no control characters but line breaks and tabs. */
export function plainText(output: Uint8Array): string {
  return (
    Buffer.from(output.buffer, output.byteOffset, output.byteLength)
      .toString('utf8')
      .replace(ESCAPES, '')
      // A lone carriage return starts its line again: what it would overwrite is a line of its own.
      .replace(/\r\n?/g, '\n')
      .replace(CONTROLS, '')
  )
}

/** The end of a text, from a whole line on where there is one, in at most so many bytes of UTF-8. */
export function tailOf(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text.slice(-bytesMax))
  if (bytes.length <= bytesMax && text.length <= bytesMax) return bytes.toString('utf8')
  let start = Math.max(0, bytes.length - bytesMax)
  // A byte of the form 10xxxxxx is the rest of a character that began earlier.
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  const tail = bytes.toString('utf8', start)
  const lineEnd = tail.indexOf('\n')
  return lineEnd >= 0 && lineEnd < tail.length - 1 ? tail.slice(lineEnd + 1) : tail
}
