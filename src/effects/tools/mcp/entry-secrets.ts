import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import {
  bareValues,
  isPlainWords,
  isSecretHeader,
  isSecretName,
  isSecretSetting,
} from '../../guards/secret-name.ts'
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
const QUERIED = /[?&]([\w.-]+)=([^&#\s]+)/g

/**
 * Whether the value of a variable is for nobody else. Not the name of a place, nor a word such as
 * `production`: nobody could write without those.
 */
export function isSecretVariable(name: string, value: string): boolean {
  if (isPlace(value) || HARMLESS.includes(name)) return false
  return isSecretName(name) || !WORD.test(value)
}

/**
 * The values that stand in an entry itself under the name of a secret: in its environment, its
 * headers, its arguments and the query of an address. Plain words and numbers are none: the
 * repository is full of them, and so are examples.
 */
export function literalSecrets(entry: McpEntry): readonly string[] {
  const [texts, named] =
    entry.type === 'stdio'
      ? [[...entry.args, ...Object.values(entry.env)], inEnvironment(entry)]
      : [[entry.url, ...Object.values(entry.headers)], inHeaders(entry.headers)]
  return [...named, ...texts.flatMap(inQuery)].filter(isTelling)
}

function inEnvironment({ args, env }: Extract<McpEntry, { type: 'stdio' }>): readonly string[] {
  const values = Object.entries(env).flatMap(([name, value]) =>
    isSecretSetting(name) ? [value] : [],
  )
  const further = args.flatMap((text, at) => {
    const [, flag = ''] = FLAG.exec(text) ?? []
    const next = args[at + 1] ?? ''
    return isSecretSetting(flag) && !NO_VALUE.test(next) ? [next] : inArgument(text)
  })
  return [...values, ...further].flatMap(bareValues)
}

/**
 * `--api-key=x`, and what programs are handed for others: `TOKEN=x`, `Authorization: x`. Once inside
 * another, as in `--env=TOKEN=x`, and no deeper: nobody has trusted the text yet.
 */
function inArgument(text: string, isInner = false): readonly string[] {
  const [, name = '', value = ''] = ASSIGNED.exec(text) ?? []
  if (isSecretSetting(name)) return [value]
  if (name !== '' && !isInner) return inArgument(value, true)
  const [, header = '', content = ''] = HEADER.exec(text) ?? []
  return inHeaders({ [header]: content })
}

function inHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  const named = Object.entries(headers).filter(([name]) => isSecretHeader(name))
  return named.flatMap(([, value]) => bareValues(value))
}

/** As it is written, and as it is meant. */
function inQuery(text: string): readonly string[] {
  return [...text.matchAll(QUERIED)].flatMap(([, name = '', value = '']) => {
    const meant = new URLSearchParams(`v=${value.replaceAll('+', '%2B')}`).get('v') ?? ''
    return isSecretSetting(name) ? [value, meant] : []
  })
}

function isTelling(value: string): boolean {
  const isOpen = isPlainWords(value) || [NUMBER, ADDRESS, RELATIVE].some((one) => one.test(value))
  return value.trim() !== '' && !isOpen && !isPlace(value)
}

function isPlace(value: string): boolean {
  return isAbsolute(value) && existsSync(value)
}
