import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { McpServer } from './mcp-config.ts'

const FILE = 'mcp-trust.json'

const HASH = z.string().regex(/^[0-9a-f]{64}$/)

const RECORD = z.strictObject({
  entry: HASH,
  definitions: HASH,
  variables: z.array(z.string().max(256)).max(200),
})

const CONTENT = z.strictObject({ version: z.literal(1), servers: z.record(z.string(), RECORD) })

/** What a user has agreed to about one server. */
export interface TrustedServer {
  /** The hash of its entry in the configuration. */
  readonly entry: string
  /** The hash of its tools as they were. */
  readonly definitions: string
  /** The variables of the environment that it may be given. */
  readonly variables: readonly string[]
}

/** Which servers a user trusts, by name. */
export type McpTrust = ReadonlyMap<string, TrustedServer>

/** Reads what is trusted. A file that is missing or damaged trusts nobody. */
export async function readMcpTrust(stateFolder: string): Promise<McpTrust> {
  try {
    const text = await readFile(join(stateFolder, FILE), 'utf8')
    return new Map(Object.entries(CONTENT.parse(JSON.parse(text)).servers))
  } catch {
    return new Map()
  }
}

/** Remembers that a user trusts a server with these tools, in the place of what was before. */
export async function trustMcpServer(
  stateFolder: string,
  server: McpServer,
  agreed: { readonly definitions: string; readonly variables: readonly string[] },
): Promise<void> {
  const { definitions, variables } = agreed
  await change(stateFolder, (servers) =>
    servers.set(server.name, { entry: server.trustKey, definitions, variables: [...variables] }),
  )
}

/** Forgets a server. */
export async function distrustMcpServer(stateFolder: string, name: string): Promise<void> {
  await change(stateFolder, (servers) => servers.delete(name))
}

async function change(
  stateFolder: string,
  how: (servers: Map<string, TrustedServer>) => unknown,
): Promise<void> {
  const servers = new Map(await readMcpTrust(stateFolder))
  how(servers)
  const content = { version: 1, servers: Object.fromEntries(servers) }
  await mkdir(stateFolder, { recursive: true, mode: 0o700 })
  // Whole or not at all: half a file would trust nobody, and a kill may come at any time.
  const temporary = join(stateFolder, `${FILE}.${randomBytes(6).toString('hex')}`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(content, null, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, join(stateFolder, FILE))
  } finally {
    await rm(temporary, { force: true })
  }
}
