/** How many characters a text has, as people count them. */
export function countCharacters(text) {
  return [...text].length
}
