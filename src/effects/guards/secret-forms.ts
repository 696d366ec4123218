/** How a known secret may be written in a text. */
export interface SecretForms {
  readonly value: string
  readonly forms: readonly string[]
  /** Those that are often broken into lines. */
  readonly wrapped: readonly string[]
}

/** Shorter values are words: blacking them out would say where they are. */
const FORM_CHARS_MIN = 6
/** One line of a key that has many is as good as the key's end. */
const LINE_CHARS_MIN = 16
const CACHED_MAX = 1_000

const cached = new Map<string, readonly SecretForms[]>()

/** The forms of a secret, and of each of its lines when it has several. */
export function formsOf(secret: string): readonly SecretForms[] {
  const known = cached.get(secret)
  if (known !== undefined) return known
  const value = secret.trim()
  const forms = value.length < FORM_CHARS_MIN ? [] : [spell(value), ...linesOf(value)]
  if (cached.size >= CACHED_MAX) cached.clear()
  cached.set(secret, forms)
  return forms
}

/** The edges of a key are no secret. */
function linesOf(value: string): readonly SecretForms[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim())
  if (lines.length === 1) return []
  return lines
    .filter((line) => line.length >= LINE_CHARS_MIN && !line.startsWith('-----'))
    .map((line) => ({ value: line, forms: [line, line.replaceAll('/', '\\/')], wrapped: [] }))
}

function spell(value: string): SecretForms {
  const base64 = base64Of(value)
  const forms = [
    ...jsonOf(value),
    ...percentOf(value),
    ...hexOf(value),
    ...markupOf(value),
    value.replaceAll("'", `'\\''`),
    ...base64,
    ...base64.flatMap((form) => [encodeURIComponent(form), form.replaceAll('/', '\\/')]),
  ]
  return { value, forms: longEnough([value, ...forms]), wrapped: longEnough(base64) }
}

function longEnough(forms: readonly string[]): readonly string[] {
  return [...new Set(forms)].filter((form) => form.length >= FORM_CHARS_MIN)
}

/** Inside one, two and three texts of JSON, by encoders that write out more or less. */
function jsonOf(value: string): readonly string[] {
  const escaped = (text: string) => JSON.stringify(text).slice(1, -1)
  const inAscii = (text: string, hex: (code: string) => string) =>
    text.replace(/[\u007f-\uffff]/g, (char) => {
      return `\\u${hex(char.charCodeAt(0).toString(16).padStart(4, '0'))}`
    })
  const once = escaped(value)
  const lower = inAscii(once, (code) => code)
  const upper = inAscii(once, (code) => code.toUpperCase())
  const all = [once, lower, upper, once.replaceAll('/', '\\/'), lower.replaceAll('/', '\\/')]
  return all.flatMap((form) => [form, escaped(form), escaped(escaped(form))])
}

/** Encoders differ in what they leave as it is, and in the case of their digits. */
function percentOf(value: string): readonly string[] {
  const bytes = [...Buffer.from(value)]
  const encode = (kept: RegExp) =>
    bytes
      .map((byte) => {
        const char = String.fromCharCode(byte)
        return kept.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
      })
      .join('')
  const kept = [/[\w.!~*'()-]/, /[\w.~-]/, /[A-Za-z0-9]/, /[\w.!~*'();/?:@&=+$,#-]/, /^$/]
  const upper = kept.map(encode)
  const spaced = upper.map((form) => form.replaceAll('%20', '+'))
  const once = [...upper, ...spaced]
  const lower = once.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))
  return [...once, ...lower].flatMap((form) => [form, form.replaceAll('%', '%25')])
}

function hexOf(value: string): readonly string[] {
  const hex = Buffer.from(value).toString('hex')
  return [hex, hex.toUpperCase()]
}

function markupOf(value: string): readonly string[] {
  const plain = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const quoted = plain.replaceAll('"', '&quot;')
  return [plain, quoted, quoted.replaceAll("'", '&#39;'), quoted.replaceAll("'", '&#x27;')]
}

/** In a longer text it starts at any of three places, and its ends depend on its neighbours. */
function base64Of(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  return [0, 1, 2].flatMap((shift) => {
    const all = Buffer.concat([Buffer.alloc(shift), bytes])
    // Only what six bits of the value alone decide: not what it shares with what is around it.
    const start = Math.ceil((shift * 8) / 6)
    const end = Math.floor((all.length * 8) / 6)
    const form = all.toString('base64').slice(start, end)
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
