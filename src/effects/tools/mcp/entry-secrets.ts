import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { isHarmless } from '../../guards/harmless-value.ts'
import {
  bareValues,
  fieldsInJson,
  headersIn,
  inAddresses,
  type NamedValue,
  unquoted,
} from '../../guards/inner-secrets.ts'
import { isPlainWords, isSecretHeader, isSecretSetting } from '../../guards/secret-name.ts'
import type { McpEntry } from './mcp-config.ts'
import { HARMLESS } from './run-server.ts'

const WORD = /^[a-z]{1,12}$/

/** A count, a time, a version. */
const NUMBER = /^\d[\d.,:_-]{0,11}$/
const RELATIVE = /^(?:~|\.{1,2})\//
/** Without a password in it; its query is looked through by itself. */
const ADDRESS = /^\w+:\/\/[^@\s]*$/

const FLAG = /^-{1,2}([\w.-]+)$/
const ASSIGNED = /^-{0,2}([\w.-]+)=(.*)$/s
/** A value may begin with a dash too, and then has a digit as a rule. */
const NO_VALUE = /^(?:--[\w.-]+|-[^\d\s]+)$/
const HEADER = /^([\w-]+)\s*:\s*(.*)$/s
/** Only what a shell reads has more than one word in it. */
const SHELL_WORD = /(?:"[^"]*"|'[^']*'|[^\s;&|"'])+/g
const SHELL_QUOTED = /"([^"]*)"|'([^']*)'/g

/** A variable, and where it stands in an entry. */
interface FilledIn {
  readonly name: string
  readonly value: string
  /** Whether it is where what is written is a secret. */
  readonly isSecretPlace: boolean
  /** Most headers let somebody in, whatever they are called. */
  readonly isInHeader: boolean
}

/**
 * Whether the value of a variable is for nobody else: by its name, by where it is filled in, or
 * because it could be a key. Not the name of a place, nor words, hosts, versions and the like where
 * nothing speaks of a secret: nobody could write without those.
 */
export function isSecretVariable({ name, value, ...place }: FilledIn): boolean {
  if (isPlace(value) || HARMLESS.includes(name)) return false
  if (place.isSecretPlace || isSecretSetting(name) || !isHarmless(value)) return true
  return place.isInHeader && !WORD.test(value)
}

/**
 * The values that stand in an entry itself under the name of a secret: in its environment, its
 * headers, its arguments, an address, and in JSON inside any of them. Plain words and numbers are
 * none: the repository is full of them, and so are examples.
 */
export function literalSecrets(entry: McpEntry): readonly string[] {
  const found =
    entry.type === 'stdio'
      ? [...inEnvironment(entry.env), ...inArguments([entry.command, ...entry.args])]
      : [...inHeaders(Object.entries(entry.headers)), ...inText(entry.url)]
  return [...new Set(found.filter(isTelling).map(([, value]) => value))]
}

function inEnvironment(env: Readonly<Record<string, string>>): readonly NamedValue[] {
  return Object.entries(env).flatMap(([name, text]) => {
    const value = unquoted(text)
    const whole = isSecretSetting(name) ? bareValues([name, value]) : []
    const lines = /headers/i.test(name) ? inHeaders(headersIn(value)) : []
    return [...whole, ...lines, ...inText(value)]
  })
}

/** What one argument gives a shell to read is arguments again, and what those give is not. */
function inArguments(args: readonly string[], isInner = false): readonly NamedValue[] {
  return args.flatMap((text, at) => {
    const [, flag = ''] = FLAG.exec(text) ?? []
    const next = args[at + 1] ?? ''
    const isFlag = isSecretSetting(flag) && !NO_VALUE.test(next)
    const named = isFlag ? bareValues([flag, unquoted(next)]) : inArgument(text)
    if (isInner) return named
    const words = wordsIn(text)
    return [...named, ...inText(text), ...(words.length > 1 ? inArguments(words, true) : [])]
  })
}

/**
 * `--api-key=x`, and what programs are handed for others: `TOKEN=x`, `Authorization: x`. Once inside
 * another, as in `--env=TOKEN=x`, and no deeper: nobody has trusted the text yet.
 */
function inArgument(text: string, isInner = false): readonly NamedValue[] {
  const [, name = '', value = ''] = ASSIGNED.exec(text) ?? []
  if (isSecretSetting(name)) return bareValues([name, unquoted(value)])
  if (name !== '' && !isInner) return inArgument(unquoted(value), true)
  const [, header = '', content = ''] = HEADER.exec(text) ?? []
  return content === '' ? [] : inHeaders([[header, unquoted(content)]])
}

function wordsIn(text: string): readonly string[] {
  return [...text.matchAll(SHELL_WORD)].map(([word]) => word.replace(SHELL_QUOTED, '$1$2'))
}

function inHeaders(headers: readonly NamedValue[]): readonly NamedValue[] {
  return headers.flatMap(([name, value]) => {
    const whole = isSecretHeader(name) ? bareValues([name, value]) : []
    return [...whole, ...inText(value)]
  })
}

/** Whatever the text is called, it may have more in it. */
function inText(text: string): readonly NamedValue[] {
  return [...fieldsInJson(text).flatMap(bareValues), ...inAddresses(text)]
}

function isTelling([name, value]: NamedValue): boolean {
  const isOpen =
    isPlainWords(value, name) || [NUMBER, ADDRESS, RELATIVE].some((one) => one.test(value))
  return value.trim() !== '' && !isOpen && !isPlace(value)
}

function isPlace(value: string): boolean {
  return isAbsolute(value) && existsSync(value)
}
