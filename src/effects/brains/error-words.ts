/** Where the many servers say what is wrong. Not where they repeat what they were sent. */
const SPOKEN =
  /^(?:messages?|error_?messages?|error_?msg|msg|details?|errors?|error_?description|description|reason|title|loc|type|code)$/i

const CHARS_READ = 10_000
const LEVELS_MAX = 7
const WORDS_MAX = 20

/** What a body says of an error in a form that nobody knows; empty for a page, which is for eyes. */
export function errorWordsIn(body: string): string {
  if (/^\s*(?:<|$)/.test(body)) return ''
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return body.slice(0, CHARS_READ).trim()
  }
  const words: string[] = []
  gather(parsed, words, LEVELS_MAX)
  return words.join(' ').slice(0, CHARS_READ)
}

function gather(value: unknown, words: string[], levels: number): void {
  if (words.length >= WORDS_MAX || levels === 0) return
  if (typeof value === 'string' && value.trim() !== '') words.push(value.trim())
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (Array.isArray(value) || SPOKEN.test(name)) gather(inner, words, levels - 1)
  }
}
