/** More than any name of a thing has. */
const CHARS_MAX = 200

/**
 * Spelled as a word of a name is, in one case or as `GitHub` is, with a number behind it or alone,
 * such as `db2`, `2024` and `4o`. Longer letters of one case, and letters behind a digit, are what
 * keys are made of.
 */
const LETTERS =
  '(?![A-Za-z]{21})(?:[A-Z]?[a-z]{1,15}(?:[A-Z][a-z]{2,14}){0,2}[A-Z]{0,3}|[A-Z]{1,12})(?![A-Za-z])'
const WORD = `(?:${LETTERS}(?:(?<![A-Za-z]{13})\\d{1,4})?|\\d{1,8}[a-z]{0,2}|[a-z]\\d{1,2}[a-z])(?![A-Za-z\\d])`
const BETWEEN = '(?:, |__|--|[ ,/\\\\._+-])'
const NAME = `${WORD}(?:${BETWEEN}${WORD})*`

const NAMES = new RegExp(`^(?:~/|\\.{1,2}/|/|@|\\.|[A-Z]:\\\\)?${NAME}/?(?::\\d{1,5})?$`)
const EMAIL = new RegExp(`^${NAME}@${NAME}$`)
/** In lower case it is one, whatever its provider calls a machine. */
const HOST = /^(?:[a-z\d-]{1,24}\.){1,8}[a-z]{2,15}(?::\d{1,5})?$/
const NUMBER = /^-?\d[\d.,:_-]{0,11}%?$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?$/
/** As a password for one app is shown. */
const GROUPS = /^(?:[a-z]{4} ){3}[a-z]{4}$/

/** At this length digits among letters of both cases, or letters that no word has, are a key. */
const LONG = 16
const MIXED = /^(?=.*\d)(?=.*[a-z]).*[A-Z]/
const UNSPELLED = /[b-df-hj-np-tv-xz]{6}/i

/**
 * Whether a value looks like what code and conversations are full of: words, a region, a host, an
 * address without a password, a path, a version, a date, a number. What could be a key is none of it.
 */
export function isHarmless(value: string): boolean {
  if (value.length > CHARS_MAX || GROUPS.test(value)) return false
  const isOpen = [NUMBER, TIME, HOST].some((one) => one.test(value))
  return isOpen || isName(value) || isOpenAddress(value)
}

function isName(value: string): boolean {
  const isMade = value.length >= LONG && (MIXED.test(value) || UNSPELLED.test(value))
  return !isMade && (NAMES.test(value) || EMAIL.test(value))
}

/** An address in which nothing lets anybody in: some do by a part of their path. */
function isOpenAddress(value: string): boolean {
  if (!/^[a-z][a-z\d+.-]{0,20}:\/\/\S*$/.test(value) || !URL.canParse(value)) return false
  const { username, password, host, pathname, search, hash } = new URL(value)
  const parts = [username, ...pathname.split('/'), ...search.split(/[?&=]/), hash.slice(1)]
  const said = parts.filter((part) => part !== '')
  return password === '' && said.every(isName) && isHost(host)
}

function isHost(host: string): boolean {
  return host === '' || HOST.test(host) || isName(host)
}
