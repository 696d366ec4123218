import {
  type CallToolResult,
  Client,
  type ClientOptions,
  ProtocolError,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { boundedFetch } from './bounded-fetch.ts'
import type { McpEntry } from './mcp-config.ts'
import type { McpDefinition } from './mcp-definitions.ts'
import type { RunServer } from './run-server.ts'
import { ServerProcess } from './server-process.ts'

/** How long a server may take. */
export interface McpTimeouts {
  /** To start, and to say which tools it has. */
  readonly connectMs: number
  readonly callMs: number
}

/** How a connection is made. */
export interface ConnectionParts {
  readonly run: RunServer
  readonly timeouts: McpTimeouts
  /** What a server may not say when it ends. */
  readonly secrets: readonly string[]
  /** Called when the server says that its tools are others now. */
  readonly onChanged: () => void
}

/** A server that is being talked to. What goes wrong is thrown, in words for people. */
export interface McpConnection {
  readonly isOpen: boolean
  list(): Promise<readonly McpDefinition[]>
  call(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<CallToolResult>
  /** Ends its process with all that it started. Never rejects. */
  close(): Promise<void>
}

const PAGES_MAX = 16

/**
 * How a server behind an address says that it does not know us any more: 404, as the protocol has
 * it, and 400 from many others. Whatever else it answers is about that one call.
 */
const FORGOTTEN: readonly (number | undefined)[] = [400, 404]

/** It is told nothing of us, and may ask us for nothing: no model, no folder, no human. */
const IDENTITY = { name: 'slipway', version: '1' }

/** Connects to a server: as most speak, and if it does not know that, as the newest do. */
export async function connectServer(
  entry: McpEntry,
  parts: ConnectionParts,
): Promise<McpConnection> {
  try {
    return await open(entry, parts, {})
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    const { onChanged } = parts
    return open(entry, parts, {
      versionNegotiation: { mode: 'auto' },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
    })
  }
}

async function open(
  entry: McpEntry,
  { run, timeouts, secrets, onChanged }: ConnectionParts,
  options: ClientOptions,
): Promise<McpConnection> {
  const transport = transportTo(entry, run, secrets)
  const client = new Client(IDENTITY, { ...options, listMaxPages: PAGES_MAX })
  let isOpen = true
  client.onclose = () => {
    isOpen = false
  }
  if (options.listChanged === undefined) {
    client.setNotificationHandler('notifications/tools/list_changed', onChanged)
  }
  const bounds = { timeout: timeouts.connectMs, maxTotalTimeout: timeouts.connectMs }
  const close = async () => {
    await client.close().catch(() => {})
    await transport.close().catch(() => {})
  }
  const explained = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      const problem = transport instanceof ServerProcess ? transport.problem : ''
      if (problem !== '') throw new Error(problem)
      // The library does not say it, and it tells most.
      if (error instanceof SdkHttpError) error.message = `HTTP ${error.status}: ${error.message}`
      throw error
    }
  }
  try {
    await explained(client.connect(transport, bounds))
  } catch (error) {
    await close()
    throw error
  }
  return {
    get isOpen() {
      return isOpen
    },
    async list() {
      // Kept nowhere, so that the library compiles no schema of the server's.
      const { tools } = await explained(
        client.listTools(undefined, { ...bounds, cacheMode: 'bypass' }),
      )
      return tools
    },
    async call(tool, input, signal) {
      const { callMs } = timeouts
      const within = { timeout: callMs, maxTotalTimeout: callMs, signal }
      try {
        return await explained(client.callTool({ name: tool, arguments: { ...input } }, within))
      } catch (error) {
        if (error instanceof SdkHttpError && FORGOTTEN.includes(error.status)) isOpen = false
        throw error
      }
    },
    close,
  }
}

function transportTo(entry: McpEntry, run: RunServer, secrets: readonly string[]): Transport {
  if (entry.type === 'stdio') {
    const { command, args, env } = entry
    return new ServerProcess(run, { argv: [command, ...args], env }, secrets)
  }
  const url = new URL(entry.url)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Error(`its address begins with ${url.protocol}`)
  }
  const options = { requestInit: { headers: entry.headers }, fetch: boundedFetch }
  return entry.type === 'sse'
    ? new SSEClientTransport(url, options)
    : new StreamableHTTPClientTransport(url, options)
}
