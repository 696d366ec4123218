import { redact } from '../../guards/redaction.ts'
import { shorten } from '../output-files.ts'
import { defineTool, refused as refuse, type Tool } from '../tool.ts'
import type { McpServer } from './mcp-config.ts'
import type { McpTimeouts } from './mcp-connection.ts'
import {
  definitionsHash,
  type McpDefinition,
  type OfferedTool,
  offerTools,
  showDefinitions,
} from './mcp-definitions.ts'
import type { McpSession } from './mcp-session.ts'
import type { McpTrust, TrustedServer } from './mcp-trust.ts'
import { type Expansion, expandEntry, ownSecrets } from './mcp-variables.ts'
import type { RunServer } from './run-server.ts'

/** What servers are started with. */
export interface McpParts {
  readonly run: RunServer
  /** Where the variables are taken from that a user named; a server sees no other. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Values that no model may see, besides those that servers are given. */
  readonly secrets?: readonly string[]
  readonly timeouts?: McpTimeouts
}

/** A server, or one tool of it, that is not offered. */
export interface McpRefusal {
  readonly server: string
  readonly tool?: string
  readonly reason: string
}

export interface McpToolsOptions extends McpParts {
  readonly servers: readonly McpServer[]
  readonly trust: McpTrust
  /** Called when a server is refused that was in use. */
  readonly onRefused?: (refusal: McpRefusal) => void
}

/** The tools of trusted servers. */
export interface McpTools {
  readonly tools: readonly Tool[]
  readonly refused: readonly McpRefusal[]
  /** What the servers were given, or would be by their entries, and nobody else may see. */
  readonly secrets: readonly string[]
  /** Ends the servers. Never rejects. */
  close(): Promise<void>
}

const TIMEOUTS: McpTimeouts = { connectMs: 30_000, callMs: 120_000 }
const REASON_CHARS_MAX = 1_000

interface Opened {
  readonly tools: readonly Tool[]
  readonly refused: readonly McpRefusal[]
  readonly session?: McpSession
}

/**
 * Starts the servers that the user trusts, exactly as they were when that was said, and offers
 * their tools. Of any other server nothing is started and nothing is asked. Never rejects.
 */
export async function openMcpTools(options: McpToolsOptions): Promise<McpTools> {
  const { servers, trust, environment } = options
  const asked = servers.map((server) => [server, admitServer(server, trust, environment)] as const)
  const given = asked.flatMap(([{ entry }, admission]) =>
    // Anybody can read the entry of a server that is not started.
    admission.ok ? admission.secrets : ownSecrets(entry),
  )
  // What one server was given is nothing for another to tell.
  const secrets = [...(options.secrets ?? []), ...given]
  const opened = await Promise.all(
    asked.map(([server, admission]) => openServer(server, admission, { ...options, secrets })),
  )
  return {
    tools: opened.flatMap(({ tools }) => tools),
    refused: opened.flatMap(({ refused }) => refused),
    secrets: given,
    async close() {
      await Promise.all(opened.map(({ session }) => session?.close()))
    },
  }
}

/** Starts one server that a user wants to look at, to see what trusting it would mean. */
export async function inspectMcpServer(
  { name, entry }: McpServer,
  variables: readonly string[],
  parts: McpParts,
): Promise<McpInspection> {
  const expanded = expandEntry(entry, variables, parts.environment)
  if (!expanded.ok) return expanded
  const secrets = [...(parts.secrets ?? []), ...expanded.secrets]
  try {
    const { connectServer } = await import('./mcp-connection.ts')
    const { run, timeouts = TIMEOUTS } = parts
    const connecting = { run, timeouts, secrets, onChanged: () => {} }
    const connection = await connectServer(expanded.entry, connecting)
    try {
      const found = await connection.list()
      const refused = offerTools(name, found, secrets).refused
      return {
        ok: true,
        tools: showDefinitions(found, secrets),
        definitions: definitionsHash(found),
        refused: refused.map((each) => ({ server: name, ...each })),
      }
    } finally {
      await connection.close()
    }
  } catch (error) {
    return { ok: false, reason: explain(error, secrets) }
  }
}

/** The tools of a server as they are now, for people, and the hash that trusting them would pin. */
export type McpInspection =
  | {
      readonly ok: true
      readonly tools: readonly McpDefinition[]
      readonly definitions: string
      readonly refused: readonly McpRefusal[]
    }
  | { readonly ok: false; readonly reason: string }

/** A server that may be started, with its variables filled in; or why it may not. */
export type McpAdmission =
  | (Extract<Expansion, { ok: true }> & { readonly trusted: TrustedServer })
  | { readonly ok: false; readonly reason: string }

/** Whether a server would be started. Starts nothing: whether its tools changed is not known yet. */
export function admitServer(
  { name, entry, trustKey }: McpServer,
  trust: McpTrust,
  environment: McpParts['environment'],
): McpAdmission {
  const trusted = trust.get(name)
  if (trusted === undefined) return { ok: false, reason: 'it is not trusted' }
  if (trusted.entry !== trustKey) {
    return { ok: false, reason: 'its entry in .mcp.json has changed since it was trusted' }
  }
  const expanded = expandEntry(entry, trusted.variables, environment)
  return expanded.ok ? { ...expanded, trusted } : expanded
}

type Started = McpToolsOptions & { readonly secrets: readonly string[] }

async function openServer(
  { name }: McpServer,
  admission: McpAdmission,
  options: Started,
): Promise<Opened> {
  if (!admission.ok) return leftOut(name, admission.reason)
  try {
    return await startServer(name, admission, options)
  } catch (error) {
    return leftOut(name, explain(error, options.secrets))
  }
}

async function startServer(
  name: string,
  { entry, trusted }: Extract<McpAdmission, { ok: true }>,
  { run, timeouts = TIMEOUTS, secrets, onRefused }: Started,
): Promise<Opened> {
  const { McpSession } = await import('./mcp-session.ts')
  let isOpen = false
  const session = new McpSession({
    entry,
    pinned: trusted.definitions,
    run,
    timeouts,
    secrets,
    onRefused(reason) {
      if (isOpen) onRefused?.({ server: name, reason })
    },
  })
  try {
    const { offered, refused } = offerTools(name, await session.open(), secrets)
    isOpen = true
    const tools = offered.map((each) => toolOf(name, each, session, secrets))
    return { tools, refused: refused.map((each) => ({ server: name, ...each })), session }
  } catch (error) {
    await session.close()
    throw error
  }
}

function toolOf(
  server: string,
  { name, calledName, description, schema }: OfferedTool,
  session: McpSession,
  secrets: readonly string[],
): Tool {
  return defineTool({
    name,
    description,
    schema,
    // Whatever a server says about itself, nobody has looked.
    isReadOnly: false,
    async run(input, { outputs, signal }) {
      try {
        const given = input as Readonly<Record<string, unknown>>
        const { text, droppedBytes, isError } = await session.call(calledName, given, signal)
        return { text: await shorten(redact(text, secrets), outputs, droppedBytes), isError }
      } catch (error) {
        return refuse(`the server ${server} gave no answer: ${explain(error, secrets)}`)
      }
    },
  })
}

function leftOut(server: string, reason: string): Opened {
  return { tools: [], refused: [{ server, reason }] }
}

function explain(error: unknown, secrets: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error)
  return redact(message, secrets).slice(0, REASON_CHARS_MAX) || 'no reason is known'
}
