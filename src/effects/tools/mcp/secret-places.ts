import { isSecretField, isSecretSetting } from '../../guards/secret-name.ts'
import { literalSecrets } from './entry-secrets.ts'
import type { McpEntry } from './mcp-config.ts'

/** Made as a key is, so that it is taken for one where one would be. */
const MARK = /Mk7q(\d{1,6})x9Zw/g

/** What has names and values of its own: of what stands in it, the names there decide. */
const STRUCTURED = /[\s{}"]|:\/\//

/** A name, and the mark that it is given. What follows a colon at once may be a port. */
const NAMED =
  /(?<![\w.-])([\w.-]{1,100})(?:=|["']?\s{0,4}:(?=["'\s]))\s{0,4}["']?(?:[\w-]{1,20}\s)?Mk7q(\d{1,6})x9Zw/g

/** Stands for a variable of that number. */
export function markOf(index: number): string {
  return `Mk7q${index}x9Zw`
}

/** The numbers of the marks in an entry that stand where what is written would be a secret. */
export function markedSecrets(entry: McpEntry, texts: readonly string[]): ReadonlySet<number> {
  const found = literalSecrets(entry).filter((secret) => !STRUCTURED.test(secret))
  const whole = found.flatMap((secret) => [...secret.matchAll(MARK)].map(([, index]) => index))
  const named = texts.flatMap((text) =>
    [...text.matchAll(NAMED)].flatMap(([, name = '', index]) =>
      isSecretSetting(name) || isSecretField(name) ? [index] : [],
    ),
  )
  return new Set([...whole, ...named].map(Number))
}
