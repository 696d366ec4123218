const SECRET_NAME =
  /KEY|TOKEN|HEADERS|SECRET|PASS|PWD|CREDENTIAL|AUTH|COOKIE|DSN|(?:^|[_-])(?:PAT|PW|CREDS)(?:$|[_-])/i

/** Headers say what they are in whole words, which many write as one. */
const SECRET_HEADER =
  /(?:^|[-_])(?:api|access|auth|client)?(?:key|token|secret|pass(?:word|wd|phrase)?|pat|auth(?:ori[sz]ation)?|cookie|credentials?)(?:$|[-_])/i

/** Fields say it at the end: `keyId` and `passMode` are about one. */
const SECRET_FIELD =
  /(?:key|token|secret|password|passwd|passphrase|authori[sz]ation|cookie|(?:^|[-_.])(?:pass|pwd|pat))$/i

/** What is said about a secret and is none. */
const ABOUT =
  /(?:file|path|dir|url|uri|host|domain|endpoint|region|realm|issuer|audience|sock|socket|name|email|provider|method|scheme|scopes?|type|mode|version|enabled)$/i
/** What has the letters of a secret's name in it. */
const OTHERWISE = /author(?!i[sz])|tokeni[sz]er|(?<![a-z])portkey/gi

/** Where a word begins in a name such as `accessToken` or `APIKey`, but not in `OAuth`. */
const HUMP = /(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z])/g

/**
 * Spelled as words and names are, such as `GitHub` and `OpenAI`, and no longer: a key may have
 * nothing but letters too.
 */
const WORD = '(?:[A-Z]?[a-z]{1,20}(?:[A-Z][a-z]{2,19}){0,2}[A-Z]{0,3}|[A-Z]{1,20})'
const WORDS = new RegExp(`^${WORD}(?:[ ._-]${WORD})*$`)

const PASSWORD_NAME = /(?:^|[-_.])pass|passw|pwd/i
/** As Google makes them for an app: letters alone, which it shows in four groups. */
const APP_PASSWORD = /^(?:[a-z]{4} ){3}[a-z]{4}$|^[a-z]{16}$/

/** Whether a variable says by its name that its value is for nobody's eyes. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) || SECRET_NAME.test(name.replace(HUMP, '-'))
}

/** The same for a setting that anybody may have named, who may also speak about a secret. */
export function isSecretSetting(name: string): boolean {
  return isSecretName(name.replace(OTHERWISE, '')) && !ABOUT.test(name)
}

/** Whether a header says by its name that its value is for nobody's eyes. */
export function isSecretHeader(name: string): boolean {
  const words = name.replace(OTHERWISE, '').replace(HUMP, '-')
  return SECRET_HEADER.test(words) && !ABOUT.test(name)
}

/** Whether a field of a configuration says by the end of its name that its value is a secret. */
export function isSecretField(name: string): boolean {
  return SECRET_FIELD.test(name) || SECRET_FIELD.test(name.replace(HUMP, '-'))
}

/**
 * Whether a value is words, such as a team or a stage, which code and conversations are full of.
 * Under the name of a password, what is made of letters as passwords are is none.
 */
export function isPlainWords(value: string, name = ''): boolean {
  return WORDS.test(value) && !isAppPassword(name, value)
}

/** Whether a value has the form that a password for one app is given in. */
export function isAppPassword(name: string, value: string): boolean {
  return PASSWORD_NAME.test(name.replace(HUMP, '-')) && APP_PASSWORD.test(value)
}
