import { isAppPassword, isPlainWords, isSecretField, isSecretSetting } from './secret-name.ts'

/** A value, and the name that it stands under. */
export type NamedValue = readonly [name: string, value: string]

// Nobody has trusted these texts yet: nothing here is tried again over the same characters.

const FIELD = /"([\w.-]{1,100})"\s{0,20}:\s{0,20}"((?:[^"\\]|\\.){4,8192})"/gs
const HEADER = /^[ \t]*([\w-]+)[ \t]*:(.*)$/gm
const QUERIED = /[?&]([\w.-]+)=([^&#\s"'<>]+)/g
/** A password may have an at sign in it; one that is shorter is a word. */
const ADDRESS_PASSWORD = /:\/\/[^\s/:@"'<>]{0,200}:([^\s/?#"'<>]{6,2000})@/g

/** The fields with the name of a secret in a text that is JSON, or has some in it. */
export function fieldsInJson(text: string): readonly NamedValue[] {
  return [...text.matchAll(FIELD)].flatMap(([, name = '', value = '']) =>
    isSecretField(name) ? [[name, unescaped(value)] as const] : [],
  )
}

/** The lines of a text that are headers, whatever they are called. */
export function headersIn(text: string): readonly NamedValue[] {
  return [...text.matchAll(HEADER)].map(([, name = '', value = '']) => [name, value.trim()])
}

/** What the addresses in a text let in with, as it is written and as it is meant. */
export function inAddresses(text: string): readonly NamedValue[] {
  const passwords = [...text.matchAll(ADDRESS_PASSWORD)].map(
    ([, value = '']) => ['password', value] as const,
  )
  const queried = [...text.matchAll(QUERIED)].flatMap(([, name = '', value = '']) =>
    isSecretSetting(name) ? [[name, value] as const] : [],
  )
  return [...passwords, ...queried].flatMap(([name, value]) => [
    [name, value],
    [name, percentDecoded(value)],
  ])
}

const SCHEME = /^(bearer|basic|token)\s+(\S.*)$/is
/** Many have one of their own, such as `ApiKey` or `SSWS`. */
const ANY_SCHEME = /^([a-z][\w-]{0,40})\s+(\S+)$/i
const AUTHORIZATION = /authori[sz]ation$|^auth$/i
/** `Token token=x` is what some want. */
const PARAMETER = /^([\w-]{1,40})=([^=].*)$/s

/**
 * A value with what of it tells as much without the rest: behind the word that says what it is, the
 * password of one that is for a name and a password, and the values of cookies. What is shown in
 * groups is typed without them.
 */
export function bareValues([name, value]: NamedValue): readonly NamedValue[] {
  const whole = [name, value] as const
  if (/cookie/i.test(name)) return [whole, ...cookiesIn(value)]
  if (isAppPassword(name, value)) return [whole, [name, value.replaceAll(' ', '')]]
  const other = AUTHORIZATION.test(name) ? ANY_SCHEME.exec(value) : null
  const [, scheme, rest = ''] = SCHEME.exec(value) ?? other ?? []
  if (scheme === undefined) return [whole]
  const password = /^basic$/i.test(scheme) ? passwordIn(rest) : ''
  const [, parameter = '', given = ''] = PARAMETER.exec(rest) ?? []
  const bare = isSecretField(parameter) ? unquoted(given) : ''
  const inner = [[name, bare] as const, ['password', password] as const]
  return [whole, [name, rest], ...inner.filter(([, each]) => each !== '')]
}

/** A value without the quotes around it, which are a shell's. */
export function unquoted(value: string): string {
  return value.replace(/^(["'])(.*)\1$/s, '$2')
}

/** Of cookies that are not called after a session, only what somebody seems to have made. */
function cookiesIn(text: string): readonly NamedValue[] {
  return text.split(';').flatMap((part) => {
    const [, name = '', value = ''] = /^\s*([^=\s]+)=(.*)$/s.exec(part) ?? []
    const isSession = isSecretField(name) || /sess|sid$|jwt|csrf|xsrf|auth/i.test(name)
    const isMade = /\d/.test(value) && value.length >= 8
    const isTelling = isMade || (isSession && !isPlainWords(value))
    return value !== '' && isTelling ? [[name, unquoted(value.trim())] as const] : []
  })
}

/** Some have the key for a name, and no password. */
function passwordIn(base64: string): string {
  const [, name = '', password = ''] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(base64, 'base64').toString()) ?? []
  const found = password || name
  return /[\p{Cc}\ufffd]/u.test(found) ? '' : found
}

function unescaped(value: string): string {
  try {
    return String(JSON.parse(`"${value}"`))
  } catch {
    return value
  }
}

function percentDecoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString(),
  )
}
