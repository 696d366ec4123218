import { findPrivateKeys } from './private-keys.ts'
import type { Span } from './span.ts'

/** Between a name and its value, in whatever notation. */
const IS = /["'\\]{0,4}\s{0,4}[:=]\s{0,4}["'\\]{0,4}/.source
const TOKEN = /[\w.~+/=-]/.source

/**
 * What secrets look like where their values are not known. Where there is a group, it is the end of
 * the match and the secret. Nothing here may be tried again and again over the same run of
 * characters, and nothing is unbounded: the texts are written by whoever wants to keep us busy, and
 * a run of 16 MB is too long for the memory of an expression.
 */
const PATTERNS: readonly RegExp[] = [
  /\b(?:gh[opsur]_|github_pat_)\w{20,2000}/g,
  /\bgl(?:pat|ptt|rt|dt|oas|ft|cbt|imt|agent|soat)-[\w-]{16,2000}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\b(?:aws_)?secret_?(?:access_?)?key["']?\s{0,16}[:=]\s{0,4}["']?([A-Za-z0-9/+]{40})(?![\w/+=])/gi,
  /\b(?:aws_)?session_?token["']?\s{0,16}[:=]\s{0,4}["']?([A-Za-z0-9/+=]{100,2000})/gi,
  /\bAIza[\w-]{30,2000}/g,
  /\bya29\.[\w-]{20,2000}/g,
  /\bGOCSPX-[\w-]{20,2000}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,2000}/g,
  /\bxapp-\d-[A-Za-z0-9-]{20,2000}/g,
  /\bnpm_[A-Za-z0-9]{30,2000}/g,
  /\bpypi-[\w-]{50,2000}/g,
  /\bhf_[A-Za-z0-9]{24,2000}/g,
  /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,2000}/g,
  /\b(?:do[opr]_v1_|dapi|shp(?:at|ca|pa|ss)_|sbp_|rubygems_)[a-f0-9]{32,2000}/g,
  /\b(?:hv[bs]\.|dckr_pat_|ATATT3|glsa_)[\w-]{24,2000}/g,
  /\bAGE-SECRET-KEY-1[A-Z0-9]{50,2000}/g,
  /\bhooks\.slack\.com\/services\/(?!\w{1,20}\/\w{1,20}\/X)([\w/]{20,200})/g,
  /\bdiscord(?:app)?\.com\/api\/webhooks\/\d{15,22}\/([\w-]{60,100})/g,
  /\bSG\.[\w-]{20,30}\.[\w-]{30,2000}/g,
  /(?<![\w-])eyJ[\w-]{8,4096}\.eyJ[\w-]{8,8192}\.[\w-]{8,4096}/g,
  /:\/\/([\w-]{20,2000})(?=@)/g,
  /\b(?:Shared)?Ac(?:count|cess)Key=([A-Za-z0-9+/]{40,200}={0,2})/g,
]

/**
 * What stands after a secret's name in an environment, a connection or an address. In quotes or in
 * brackets it is an argument in somebody's code, and so is what goes on with a dot.
 */
const bareValue = (charsMin: number) =>
  `([^\\s"'\`<>$%{}()[\\]\\\\,;&|.]{${charsMin},200})(?=[\\s"'\`;&|]|$)`
const PASSWORD = bareValue(6)
/** Programs make these, and make them longer; a shorter one is the name of one, or a count. */
const MADE = bareValue(16)

/**
 * What follows a name, and is looked for first: to look before every character for a name takes more
 * than twice as long.
 */
const after = (name: string, sign = '=') => `${sign}(?<=(?:${name})${sign})`

/** At the start of a line, as in a file of variables, a shell, a Dockerfile, a diff and YAML. */
const LINE = '^[-+ \\t]{0,40}(?:(?:export|set|ENV|ARG) )?(?:[A-Z][A-Z0-9_]{0,80})?'
/** In quotes it is a value there too, and behind a colon, unless more follows, as in code. */
const lineValue = (name: string, charsMin: number) =>
  `${after(`${LINE}(?:${name})`, '[:=]')}(?:(?<==)["']|(?<=:)[ \\t]{1,8}["']?)` +
  `([^\\s"'\`<>$%{}()[\\]\\\\,;&|.]{${charsMin},200})(?=["']?[ \\t\\r]{0,8}(?:$|#))`
const PASSWORD_NAME = 'PASS(?:WORD|WD|PHRASE)?'
const MADE_NAME =
  'TOKEN|SECRET|(?:API|ACCESS|SECRET|PRIVATE|MASTER|ENCRYPTION|SIGNING)_?KEY(?:_BASE)?'

/** Like those above, but also like words and names in code: only what has a digit counts. */
const PATTERNS_WITH_DIGIT: readonly RegExp[] = [
  // Not the name of an algorithm of SSH.
  /\bsk-(?!ecdsa-sha2-|ssh-)[\w-]{16,2000}/g,
  /\b(?:gsk_|xai-|pplx-|r8_|lin_api_|tvly-|ntn_|whsec_)[A-Za-z0-9]{30,2000}/g,
  new RegExp(`\\bauthorization${IS}(?:bearer|token)\\s{1,4}(${TOKEN}{8,2000})`, 'gi'),
  // In npm's settings, and not of an object in somebody's code.
  /(?<![\w.@$])_(?:authToken|auth|password)\s{0,4}=\s{0,4}["']?([\w~+/=-]{8,2000})(?![\w.(])/g,
  new RegExp(`\\b(?:x-api-key|x-goog-api-key|private-token)${IS}(${TOKEN}{16,2000})`, 'gi'),
  new RegExp(`${after(PASSWORD_NAME)}${PASSWORD}`, 'g'),
  new RegExp(`${after(MADE_NAME)}(?![./~])${MADE}`, 'g'),
  new RegExp(lineValue(PASSWORD_NAME, 6), 'gm'),
  new RegExp(lineValue(MADE_NAME, 16), 'gm'),
  // Where a shell is has the same name.
  new RegExp(
    `${after(`(?:^|[\\s;?&"'])(?:--[\\w-]{0,40})?(?:password|passwd|pwd(?!=[./~]))`)}${PASSWORD}`,
    'gim',
  ),
  new RegExp(`${after('(?:^|\\s)--[\\w-]{0,40}(?:token|secret|api-?key)')}(?![./~])${MADE}`, 'gm'),
  new RegExp(
    `\\bmachine\\s{1,20}\\S{1,200}\\s{1,20}login\\s{1,20}\\S{1,200}\\s{1,20}password\\s{1,20}${PASSWORD}`,
    'g',
  ),
  // A property, which begins at the edge, as what is set in code mostly does not.
  new RegExp(`${after('^[-+]?[a-z][\\w.-]{0,80}[._-]password')}${PASSWORD}`, 'gm'),
]

/** Encoded, so that it has letters of both kinds, or a digit. */
const BASIC = new RegExp(`\\bauthorization${IS}basic\\s{1,4}(${TOKEN}{8,2000})`, 'gi')
const isEncoded = (text: string) => /\d/.test(text) || (/[a-z]/.test(text) && /[A-Z]/.test(text))

const IN_ADDRESS = /\/\/([^\s/:@"'<>]{0,200}):([^\s/@"'<>]{3,2000})(?=@)/g
/** What is filled in there later, by a program, a shell or a person. */
const FILLED_IN = /^\$[\w(]|[{}]|^%\w+%$|^\*+$|^\[?pass(?:word|wd)?\]?$/i

/** Passwords in addresses, but for those that nobody keeps a secret: a user's own name. */
function findInAddresses(text: string): readonly Span[] {
  return [...text.matchAll(IN_ADDRESS)].flatMap((match) => {
    const [whole, user, password = ''] = match
    if (FILLED_IN.test(password) || password === user) return []
    const end = match.index + whole.length
    return [[end - password.length, end] as const]
  })
}

/** Everything in a text that looks like a secret. */
export function findLookalikes(text: string): readonly Span[] {
  const spans: Span[] = [...findPrivateKeys(text), ...findInAddresses(text)]
  for (const match of text.matchAll(BASIC)) {
    if (isEncoded(match[1] ?? '')) spans.push(spanOf(match))
  }
  for (const pattern of PATTERNS) {
    for (const match of text.matchAll(pattern)) spans.push(spanOf(match))
  }
  for (const pattern of PATTERNS_WITH_DIGIT) {
    for (const match of text.matchAll(pattern)) {
      if (/\d/.test(match[1] ?? match[0])) spans.push(spanOf(match))
    }
  }
  return spans
}

function spanOf(match: RegExpExecArray): Span {
  const end = match.index + match[0].length
  return [end - (match[1] ?? match[0]).length, end]
}
