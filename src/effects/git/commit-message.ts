/**
 * A text as the message of a commit, whoever wrote it: git takes no NUL in one, and what else steers
 * a terminal is of no use to whoever reads the history. Lines and tabs stay. What is looked for in
 * a text is looked for afterwards, since taking something out may bring together what was apart.
 */
export function fitMessage(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
  const plain = lines.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '')
  return `${plain.trimEnd()}\n`
}
