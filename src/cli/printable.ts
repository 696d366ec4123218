/** Text that cannot steer a terminal: every control and format character but line breaks is escaped. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u{${code.toString(16)}}`
  })
}
