/** Where the many servers say what is wrong. Not where they repeat what they were sent. */
const SPOKEN =
  /^(?:messages?|error_?messages?|error_?msg|msg|details?|errors?|error_?description|description|reason|title|type|code)$/i

/** Where they name the part of a request that is wrong. It is the request's own word for it. */
const PLACE = /^loc$/i

/** Of a text that is no JSON, what tells the cause comes first. */
const TEXT_CHARS_READ = 500
const CHARS_READ = 10_000
const LEVELS_MAX = 7
const WORDS_MAX = 20

/** What a body says of an error in a form that nobody knows. */
export interface ErrorWords {
  readonly words: string
  /** Which part of the request it is about; mostly empty. */
  readonly place: string
}

const NOTHING: ErrorWords = { words: '', place: '' }

/** Nothing of a page, which is for eyes, and of what breaks off. */
export function errorWordsIn(body: string): ErrorWords {
  if (/^\s*(?:<|$)/.test(body)) return NOTHING
  const gathered = { words: [] as string[], place: [] as string[] }
  try {
    gather(JSON.parse(body), gathered, 'words', LEVELS_MAX)
  } catch {
    const isForm = /^\s*(?:[[{]|data:|event:)/.test(body)
    return isForm ? NOTHING : { words: body.slice(0, TEXT_CHARS_READ).trim(), place: '' }
  }
  const { words, place } = gathered
  return {
    words: words.join(' ').slice(0, CHARS_READ),
    place: place.join('.').slice(0, CHARS_READ),
  }
}

function gather(
  value: unknown,
  into: Readonly<Record<keyof ErrorWords, string[]>>,
  kind: keyof ErrorWords,
  levels: number,
): void {
  if (into[kind].length >= WORDS_MAX || levels === 0) return
  if (typeof value === 'string' && value.trim() !== '') into[kind].push(value.trim())
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (Array.isArray(value)) gather(inner, into, kind, levels - 1)
    else if (PLACE.test(name)) gather(inner, into, 'place', levels - 1)
    else if (SPOKEN.test(name)) gather(inner, into, kind, levels - 1)
  }
}
