import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { isSecretName } from '../../guards/secret-name.ts'
import type { McpEntry } from './mcp-config.ts'
import { HARMLESS } from './run-server.ts'

/** `${NAME}`, and `${NAME:-what else}`. */
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

const WORD = /^[a-z]{1,12}$/

/** An entry with its variables filled in, and those of their values that nobody else may see. */
export type Expansion =
  | { readonly ok: true; readonly entry: McpEntry; readonly secrets: readonly string[] }
  | { readonly ok: false; readonly reason: string }

/** The variables that an entry mentions, in the order of their names. */
export function variablesIn(entry: McpEntry): readonly string[] {
  const names = textsOf(entry).flatMap((text) =>
    [...text.matchAll(REFERENCE)].map(([, name = '']) => name),
  )
  return [...new Set(names)].sort()
}

/**
 * Fills in variables of the environment, but only those that the user has named. A repository that
 * wants another one gets nothing. Values are put in as they are and not looked through again.
 */
export function expandEntry(
  entry: McpEntry,
  named: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Expansion {
  const secrets = new Set<string>()
  const missing: string[] = []
  const expand = (text: string) =>
    text.replace(REFERENCE, (_, name: string, otherwise: string | undefined) => {
      const isGiven = named.includes(name) && Object.hasOwn(environment, name)
      const value = isGiven ? environment[name] : undefined
      if (!value && otherwise === undefined) missing.push(name)
      if (value && isSecret(name, value)) secrets.add(value)
      return value || (otherwise ?? '')
    })
  const all = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, expand(text)]))
  const expanded: McpEntry =
    entry.type === 'stdio'
      ? {
          type: 'stdio',
          command: expand(entry.command),
          args: entry.args.map(expand),
          env: all(entry.env),
        }
      : { type: entry.type, url: expand(entry.url), headers: all(entry.headers) }
  const [name] = missing
  if (name === undefined) return { ok: true, entry: expanded, secrets: [...secrets] }
  const why = named.includes(name) ? 'which is not set' : 'which it was not given'
  return { ok: false, reason: `it wants the variable ${name}, ${why}` }
}

/** Not the name of a place, nor a word such as `production`: nobody could write without those. */
function isSecret(name: string, value: string): boolean {
  const isPlace = isAbsolute(value) && existsSync(value)
  if (isPlace || HARMLESS.includes(name)) return false
  return isSecretName(name) || !WORD.test(value)
}

function textsOf(entry: McpEntry): readonly string[] {
  if (entry.type !== 'stdio') return [entry.url, ...Object.values(entry.headers)]
  return [entry.command, ...entry.args, ...Object.values(entry.env)]
}
