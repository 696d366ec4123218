import { z } from 'zod'
import { canonicalHash } from './canonical-hash.ts'

const SERVERS_MAX = 20
const TEXT_CHARS_MAX = 1024 * 1024

const text = z.string().max(8_192)
const texts = z.record(z.string().max(256), text)

const PROCESS = z.object({
  type: z.literal('stdio').optional(),
  command: text.min(1),
  args: z.array(text).max(200).default([]),
  env: texts.default({}),
})

const REMOTE = z.object({
  type: z.enum(['http', 'sse']),
  url: text.min(1),
  headers: texts.default({}),
})

/** How a server is reached: a process that is talked to over its standard streams, or an address. */
export type McpEntry =
  | {
      readonly type: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Texts
    }
  | { readonly type: 'http' | 'sse'; readonly url: string; readonly headers: Texts }

type Texts = Readonly<Record<string, string>>

/** A server that a repository names. Nothing of it is used before a user trusts it. */
export interface McpServer {
  readonly name: string
  readonly entry: McpEntry
  /** The hash of all that is said about it, also in fields that we do not know. */
  readonly trustKey: string
}

export interface McpConfig {
  readonly servers: readonly McpServer[]
  /** What could not be read, in words. */
  readonly problems: readonly string[]
}

/** Reads the text of a `.mcp.json`. Starts nothing, asks nobody, and expands no variable. */
export function readMcpConfig(text: string): McpConfig {
  if (text.length > TEXT_CHARS_MAX) return failed('it is too long')
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return failed('it is not JSON')
  }
  const named = (parsed as { mcpServers?: unknown } | null)?.mcpServers
  if (named === undefined) return failed('it has no mcpServers')
  if (named === null || typeof named !== 'object' || Array.isArray(named)) {
    return failed('mcpServers is not an object')
  }
  const servers: McpServer[] = []
  const problems: string[] = []
  for (const [name, raw] of Object.entries(named)) {
    const read = readEntry(name, raw)
    if (typeof read === 'string') problems.push(`${JSON.stringify(name.slice(0, 100))}: ${read}`)
    else if (servers.length === SERVERS_MAX) return { servers, problems: [...problems, TOO_MANY] }
    else servers.push(read)
  }
  return { servers, problems }
}

const TOO_MANY = `there are more than ${SERVERS_MAX} servers; the first ones are taken`

function failed(reason: string): McpConfig {
  return { servers: [], problems: [reason] }
}

/** The server, or what is wrong with it. */
function readEntry(name: string, raw: unknown): McpServer | string {
  if (!/^[\w.\- ]{1,64}$/.test(name)) return 'the name has to be short and plain'
  const isRemote = raw !== null && typeof raw === 'object' && 'url' in raw
  const withType = isRemote && !('type' in raw) ? { ...raw, type: 'http' } : raw
  const parsed = (isRemote ? REMOTE : PROCESS).safeParse(withType)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return `${issue?.path.join('.') || 'the entry'}: ${issue?.message ?? 'not right'}`
  }
  const known = hashOf(name, raw)
  if (known === undefined) return 'the entry is nested too deeply'
  if ('url' in parsed.data) return { name, trustKey: known, entry: parsed.data }
  const { command, args, env } = parsed.data
  return { name, trustKey: known, entry: { type: 'stdio', command, args, env } }
}

function hashOf(name: string, entry: unknown): string | undefined {
  try {
    return canonicalHash({ name, entry })
  } catch {
    return undefined
  }
}
