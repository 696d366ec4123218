/** A part of a text, from its start to before its end. */
export type Span = readonly [start: number, end: number]

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

/** At the start of a line, as in a file of variables, a shell, a Dockerfile, a diff and YAML. */
const LINE = '^[-+ \\t]{0,40}(?:(?:export|set|ENV|ARG) )?(?:[A-Z][A-Z0-9_]{0,80})?'
/** In quotes it is a value there too, and behind a colon, unless more follows, as in code. */
const lineValue = (charsMin: number) =>
  `(?:=["']|:[ \\t]{1,8}["']?)([^\\s"'\`<>$%{}()[\\]\\\\,;&|.]{${charsMin},200})(?=["']?[ \\t\\r]{0,8}(?:$|#))`
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
  new RegExp(`(?<=PASS(?:WORD|WD|PHRASE)?)=${PASSWORD}`, 'g'),
  new RegExp(`(?<=${MADE_NAME})=(?![./~])${MADE}`, 'g'),
  new RegExp(`(?<=${LINE}PASS(?:WORD|WD|PHRASE)?)${lineValue(6)}`, 'gm'),
  new RegExp(`(?<=${LINE}(?:${MADE_NAME}))${lineValue(16)}`, 'gm'),
  // Where a shell is has the same name.
  new RegExp(
    `(?<=(?:^|[\\s;?&"'])(?:--[\\w-]{0,40})?(?:password|passwd|pwd(?!=[./~])))=${PASSWORD}`,
    'gim',
  ),
  new RegExp(`(?<=(?:^|\\s)--[\\w-]{0,40}(?:token|secret|api-?key))=(?![./~])${MADE}`, 'gm'),
  new RegExp(
    `\\bmachine\\s{1,20}\\S{1,200}\\s{1,20}login\\s{1,20}\\S{1,200}\\s{1,20}password\\s{1,20}${PASSWORD}`,
    'g',
  ),
  // A property, which begins at the edge, as what is set in code mostly does not.
  new RegExp(`(?<=^[-+]?[a-z][\\w.-]{0,80}[._-]password)=${PASSWORD}`, 'gm'),
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
  const spans: Span[] = [
    ...findPrivateKeys(text),
    ...findEncodedKeys(text),
    ...findInAddresses(text),
  ]
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

const KEY_EDGE = /-----(BEGIN|END) [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** What a key has at least of its content in one piece; a mention of its first line has none. */
const KEY_CONTENT = /[A-Za-z0-9+/=]{24}/
const KEY_PIECES = /[A-Za-z0-9+/=]{24,32768}/g
/** How much of what is between its edges a key is at the least; beside it are paths and quotes. */
const KEY_SHARE_MIN = 0.4
/** A key that was cut off: lines of content straight after its first one, which a diff may sign. */
const KEY_START =
  /(?:\s|\\{1,4}[nr]){0,8}-?[A-Za-z0-9+/=]{24}(?:[A-Za-z0-9+/=\s\\]|(?<=\n)-(?!-)){0,32768}/y
/** Before each line of a key: its number, the sign of a diff, and how far it is indented. */
const MARGIN = '(?:[ \\t]{0,8}\\d{1,9}[:\\t |-])?[-+]?[ \\t]{0,40}'
const MARGIN_CHARS_MAX = 64
const BEFORE_EDGE = new RegExp(`(?<=^|\\n|\\\\n)${MARGIN}$`)
const CONTENT = '[A-Za-z0-9+/=]{1,128}[ \\t\\r]{0,8}'
const KEY_FIELD = '(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash): [^\\n]{0,200}'
/** A key that was cut off whose lines have a margin, or fields before them. No name is its content. */
const KEY_ROWS = new RegExp(
  `[ \\t\\r]{0,8}\\n(?:${MARGIN}(?:${KEY_FIELD})?\\r?\\n){0,6}` +
    `${MARGIN}(?=[A-Za-z+/=]{0,99}\\d)[A-Za-z0-9+/=]{40,128}[ \\t\\r]{0,8}(?=\\n|$)` +
    `(?:\\n${MARGIN}${CONTENT}(?=\\n|$)){0,600}`,
  'y',
)
/** The same from behind: a line of content, of those straight before its last one. */
const KEY_LINE = new RegExp(`^${MARGIN}${CONTENT}$`)
const KEY_LINE_CHARS_MAX = 208
/** In a file, and inside JSON. */
const LINE_ENDS = ['\n', '\\n']
const KEY_CHARS_MAX = 32_768

/** How the first line of anything in such a form begins, in base64. */
const ENCODED_START =
  /LS0tLS1CRUdJTi(?:[A-Za-z0-9+/]|\r?\n[ \t]{0,40}(?=[A-Za-z0-9+/]{1,128}={0,2}[ \t\r]{0,8}(?:\n|$))){20,32768}={0,2}/g
const FIRST_LINE_CHARS = 64

/** Private keys in base64, as Kubernetes has them, but no certificates. */
function findEncodedKeys(text: string): readonly Span[] {
  return [...text.matchAll(ENCODED_START)].flatMap((match) => {
    const first = Buffer.from(match[0].slice(0, FIRST_LINE_CHARS), 'base64').toString('latin1')
    return first.includes('PRIVATE KEY') ? [spanOf(match)] : []
  })
}

/** Walks from edge to edge, so that a text with edges alone costs no more than another. */
function findPrivateKeys(text: string): readonly Span[] {
  const spans: Span[] = []
  let begun: { readonly at: number; readonly contentAt: number } | undefined
  const cutOff = () => {
    if (begun === undefined) return undefined
    for (const content of [KEY_START, KEY_ROWS]) {
      content.lastIndex = begun.contentAt
      if (content.test(text)) return spans.push([begun.at, content.lastIndex])
    }
    return undefined
  }
  for (const match of text.matchAll(KEY_EDGE)) {
    const end = match.index + match[0].length
    const isWhole =
      match[1] === 'END' &&
      begun !== undefined &&
      end - begun.at <= KEY_CHARS_MAX &&
      isContent(text.slice(begun.contentAt, match.index))
    if (isWhole && begun !== undefined) spans.push([begun.at, end])
    else {
      cutOff()
      if (match[1] === 'END') spans.push(...findEnd(text, match.index, end))
    }
    begun = match[1] === 'BEGIN' ? { at: match.index, contentAt: end } : undefined
  }
  cutOff()
  return spans
}

/**
 * Whether what stands between the edges of a key is one, in whatever quotes, escapes and line
 * numbers, and not the code between two mentions of them, in which a long name is the exception.
 */
function isContent(text: string): boolean {
  const pieces = text.match(KEY_PIECES) ?? []
  const chars = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return chars > 0 && chars >= text.replaceAll(/\s+/g, '').length * KEY_SHARE_MIN
}

/** The rest of a key whose beginning was cut off, from its content to the end of its last line. */
function findEnd(text: string, edgeAt: number, end: number): readonly Span[] {
  const before = text.slice(Math.max(0, edgeAt - MARGIN_CHARS_MAX), edgeAt)
  const lineAt = edgeAt - (BEFORE_EDGE.exec(before)?.[0].length ?? 0)
  const starts = LINE_ENDS.map((lineEnd) => contentStart(text, lineAt, lineEnd))
  const start = Math.min(...starts)
  return KEY_CONTENT.test(text.slice(start, edgeAt)) ? [[start, end]] : []
}

function contentStart(text: string, edgeAt: number, lineEnd: string): number {
  let start = edgeAt
  while (edgeAt - start < KEY_CHARS_MAX && text.endsWith(lineEnd, start)) {
    const end = start - lineEnd.length
    const from = Math.max(0, end - KEY_LINE_CHARS_MAX)
    const before = text.slice(from, end).lastIndexOf(lineEnd)
    if (before === -1 && from > 0) return start
    const lineStart = before === -1 ? 0 : from + before + lineEnd.length
    if (!KEY_LINE.test(text.slice(lineStart, end))) return start
    start = lineStart
  }
  return start
}
