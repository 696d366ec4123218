/** A value as JSON that cannot steer a terminal: control and format characters are escaped. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/[^\P{C}\n]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
