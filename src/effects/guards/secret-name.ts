const SECRET_NAME =
  /KEY|TOKEN|HEADERS|SECRET|PASS|PWD|CREDENTIAL|AUTH|COOKIE|DSN|(?:^|[_-])PAT(?:$|[_-])/i

/** Headers say what they are in whole words: `X-Portkey-Provider` speaks of no key. */
const SECRET_HEADER =
  /(?:^|[-_])(?:api)?(?:key|token|secret|pass(?:word|wd)?|auth(?:orization)?|cookie|credentials?)(?:$|[-_])/i

const SCHEME = /^(?:bearer|basic|token)\s+(?=\S)/i

/**
 * Spelled as words and names are, such as `GitHub` and `OpenAI`, and no longer: a key may have
 * nothing but letters too.
 */
const WORD = '(?:[A-Z]?[a-z]{1,20}(?:[A-Z][a-z]{2,19}){0,2}[A-Z]{0,3}|[A-Z]{1,20})'
const WORDS = new RegExp(`^${WORD}(?:[ ._-]${WORD})*$`)

/** Whether a variable says by its name that its value is for nobody's eyes. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** Whether a header says by its name that its value is for nobody's eyes. */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name)
}

/** A header's value, and the same without the word before it that says what it is. */
export function bareValues(value: string): readonly string[] {
  return SCHEME.test(value) ? [value, value.replace(SCHEME, '')] : [value]
}

/** Whether a value is words, such as a team or a stage, which code and conversations are full of. */
export function isPlainWords(value: string): boolean {
  return WORDS.test(value)
}
