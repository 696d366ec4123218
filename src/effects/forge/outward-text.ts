const TITLE_CHARS_MAX = 256
const BODY_CHARS_MAX = 60_000
const SHORTENED = '\n\n[shortened]'

/** A mention, an issue by its number, an issue by its address. */
const REACHING = /(?<![\w`])@(?=\w)|#(?=\d)|\bGH-(?=\d)|\/(?:issues|pull)\/(?=\d)/g

/**
 * Text of a model, fit to be shown to others: it notifies nobody and closes nobody's issues, since
 * an invisible space parts each reference from its name, and it has no control characters.
 */
export function quieten(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '').replace(REACHING, '$&\u200b')
}

/** A title that fits: one line, not empty. */
export function fitTitle(text: string): string {
  const line = quieten(text.replace(/\s+/g, ' ').trim())
  return line === '' ? 'Untitled' : cut(line, TITLE_CHARS_MAX)
}

/** A body that fits. */
export function fitBody(text: string): string {
  const body = quieten(text)
  if (body.length <= BODY_CHARS_MAX) return body
  return cut(body, BODY_CHARS_MAX - SHORTENED.length) + SHORTENED
}

/** Never cuts a character into halves, which would not be valid UTF-8. */
function cut(text: string, charsMax: number): string {
  return text.slice(0, charsMax).replace(/[\ud800-\udbff]$/, '')
}
