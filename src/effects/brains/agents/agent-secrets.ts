import {
  bareValues,
  fieldsInJson,
  headersIn,
  inAddresses,
  type NamedValue,
} from '../../guards/inner-secrets.ts'
import { isPlainWords, isSecretHeader, isSecretName } from '../../guards/secret-name.ts'
import type { Agent } from './agent.ts'

const HEADERS_NAME = /HEADERS/i

/** What people set to be served otherwise, and not to be let in. */
const OPEN_HEADER = /(?:^|-)(?:beta|version|referer|user-agent|title)$/i

/** Names of what an agent is told about its work. */
const CHOICE_NAME =
  /(?:^|[_-])(?:model|provider|mode|level|effort|temperature|region|host|url|path|dir|file|version|type|port|timeout)$/i
/** Without a password in it, which is found by itself, and without a key in its path. */
const ADDRESS = /^\w+:\/\/[^@\s]*$/
const KEY_IN_PATH = /\/(?=[^/]*\d)(?=[^/]*[a-z])[\w-]{16,}/i

/** The values among an agent's own variables that nobody may see. */
export function secretsOf(
  { variables, areVariablesSecret }: Agent,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const values = variables.flatMap((name) => {
    const value = environment[name] ?? ''
    const headers = HEADERS_NAME.test(name) ? headersIn(value).filter(isTellingHeader) : []
    const addresses = inAddresses(value).filter(([key, inner]) => !isPlainWords(inner, key))
    const named = [...[...fieldsInJson(value), ...headers].flatMap(bareValues), ...addresses]
    const inside = named.map(([, inner]) => inner)
    const isSecret = isSecretName(name) || (areVariablesSecret && !isChoice(name, value))
    return isSecret ? [value, ...inside] : inside
  })
  return [...new Set(values)].filter((value) => value.trim() !== '')
}

/** What a program sends with every request may be shown to it again without its name. */
function isTellingHeader([name, value]: NamedValue): boolean {
  return isSecretHeader(name) || !(isPlainWords(value) || OPEN_HEADER.test(name))
}

/** Which model, whose, and how: specs and code are full of such words, and nobody is let in by them. */
function isChoice(name: string, value: string): boolean {
  if (ADDRESS.test(value)) return !KEY_IN_PATH.test(value)
  return isPlainWords(value) || CHOICE_NAME.test(name)
}
