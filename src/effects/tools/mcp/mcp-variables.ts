import { isSecretVariable, literalSecrets } from './entry-secrets.ts'
import type { McpEntry } from './mcp-config.ts'
import { markedSecrets, markOf } from './secret-places.ts'

/** `${NAME}`, and `${NAME:-what else}`. */
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** Stands for a variable; no argument and no header can have it. */
const UNKNOWN = '\0'

/**
 * More than any entry has of its own. Every text is looked through for each of them, so that a
 * repository with thousands would leave time for nothing else.
 */
const OWN_SECRETS_MAX = 40

/** An entry with its variables filled in, and what of it nobody else may see. */
export type Expansion =
  | { readonly ok: true; readonly entry: McpEntry; readonly secrets: readonly string[] }
  | { readonly ok: false; readonly reason: string }

/** The variables that an entry mentions, in the order of their names. */
export function variablesIn(entry: McpEntry): readonly string[] {
  return namesIn(textsOf(entry))
}

function namesIn(texts: readonly string[]): readonly string[] {
  const names = texts.flatMap((text) =>
    [...text.slice(0, closedTo(text)).matchAll(REFERENCE)].map(([, name = '']) => name),
  )
  return [...new Set(names)].sort()
}

/**
 * What nobody else may see of an entry as it is written, whether it is used or not: it lies in the
 * repository. Of what has to be filled in, only what is given for want of a variable is known, and of
 * more than 40 the first.
 */
export function ownSecrets(entry: McpEntry): readonly string[] {
  const written = mapTexts(entry, (text) =>
    replaceVariables(text, (_name, otherwise) => otherwise ?? UNKNOWN),
  )
  const known = literalSecrets(written).filter((secret) => !secret.includes(UNKNOWN))
  return known.slice(0, OWN_SECRETS_MAX)
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
  const secrets = new Set(ownSecrets(entry))
  const inSecretPlaces = variablesInSecretPlaces(entry)
  const inHeaders = new Set(entry.type === 'stdio' ? [] : namesIn(Object.values(entry.headers)))
  const missing: string[] = []
  const filledIn: string[] = []
  const expand = (text: string) =>
    replaceVariables(text, (name, otherwise) => {
      const isGiven = named.includes(name) && Object.hasOwn(environment, name)
      const value = isGiven ? environment[name] : undefined
      if (!value && otherwise === undefined) missing.push(name)
      if (value) filledIn.push(value)
      const isSecretPlace = inSecretPlaces.has(name)
      const isInHeader = inHeaders.has(name)
      if (value && isSecretVariable({ name, value, isSecretPlace, isInHeader })) secrets.add(value)
      return value || (otherwise ?? '')
    })
  const expanded = mapTexts(entry, expand)
  const found = literalSecrets(expanded).filter((secret) => isNoMixture(secret, filledIn))
  const isInside = (secret: string) => filledIn.some((value) => value.includes(secret))
  const own = found.filter((secret) => !isInside(secret)).slice(0, OWN_SECRETS_MAX)
  for (const secret of [...found.filter(isInside), ...own]) secrets.add(secret)
  const [name] = missing
  if (name === undefined) return { ok: true, entry: expanded, secrets: [...secrets] }
  const why = named.includes(name) ? 'which is not set' : 'which it was not given'
  return { ok: false, reason: `it wants the variable ${name}, ${why}` }
}

/** Each has a mark put in, which is found where what is written is a secret. */
function variablesInSecretPlaces(entry: McpEntry): ReadonlySet<string> {
  const names = variablesIn(entry)
  const indexes = new Map(names.map((name, index) => [name, index]))
  const marked = mapTexts(entry, (text) =>
    replaceVariables(text, (name) => markOf(indexes.get(name) ?? 0)),
  )
  return new Set([...markedSecrets(marked, textsOf(marked))].map((index) => names[index] ?? ''))
}

/** What never ends is not looked through again and again: nobody has trusted the text yet. */
function closedTo(text: string): number {
  return text.lastIndexOf('}') + 1
}

function replaceVariables(
  text: string,
  fill: (name: string, otherwise: string | undefined) => string,
): string {
  const end = closedTo(text)
  const replaced = text
    .slice(0, end)
    .replace(REFERENCE, (_, name: string, otherwise?: string) => fill(name, otherwise))
  return `${replaced}${text.slice(end)}`
}

/**
 * Whether a secret of an entry is not written around a variable: a key inside of its value, or
 * beside it. Whether a value itself is a secret was asked before.
 */
function isNoMixture(secret: string, filledIn: readonly string[]): boolean {
  if (filledIn.includes(secret)) return false
  return (
    filledIn.some((value) => value.includes(secret)) ||
    !filledIn.some((value) => secret.includes(value))
  )
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
