import { isSecretVariable, literalSecrets } from './entry-secrets.ts'
import type { McpEntry } from './mcp-config.ts'

/** `${NAME}`, and `${NAME:-what else}`. */
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** An entry with its variables filled in, and what of it nobody else may see. */
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
  const secrets = new Set(literalSecrets(mapTexts(entry, withoutVariables)))
  const missing: string[] = []
  const filledIn: string[] = []
  const expand = (text: string) =>
    text.replace(REFERENCE, (_, name: string, otherwise: string | undefined) => {
      const isGiven = named.includes(name) && Object.hasOwn(environment, name)
      const value = isGiven ? environment[name] : undefined
      if (!value && otherwise === undefined) missing.push(name)
      if (value) filledIn.push(value)
      if (value && isSecretVariable(name, value)) secrets.add(value)
      return value || (otherwise ?? '')
    })
  const expanded = mapTexts(entry, expand)
  // A key may stand inside a value; whether the value itself is a secret was said above.
  const isInside = (secret: string) => !filledIn.some((value) => secret.includes(value))
  for (const secret of literalSecrets(expanded).filter(isInside)) secrets.add(secret)
  const [name] = missing
  if (name === undefined) return { ok: true, entry: expanded, secrets: [...secrets] }
  const why = named.includes(name) ? 'which is not set' : 'which it was not given'
  return { ok: false, reason: `it wants the variable ${name}, ${why}` }
}

/** What a text says by itself; nothing where something has to be filled in. */
function withoutVariables(text: string): string {
  const found = [...text.matchAll(REFERENCE)]
  const isWhole = found.every(([, , otherwise]) => otherwise !== undefined)
  return isWhole ? text.replace(REFERENCE, '$2') : ''
}

function mapTexts(entry: McpEntry, change: (text: string) => string): McpEntry {
  const all = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, change(text)]))
  if (entry.type !== 'stdio') {
    return { type: entry.type, url: change(entry.url), headers: all(entry.headers) }
  }
  const { command, args, env } = entry
  return { type: 'stdio', command: change(command), args: args.map(change), env: all(env) }
}

function textsOf(entry: McpEntry): readonly string[] {
  if (entry.type !== 'stdio') return [entry.url, ...Object.values(entry.headers)]
  return [entry.command, ...entry.args, ...Object.values(entry.env)]
}
