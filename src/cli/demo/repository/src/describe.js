import { countCharacters } from './characters.js'

/** What is known about a text, a line for each count. */
export function describe(text) {
  return [`characters: ${countCharacters(text)}`]
}
