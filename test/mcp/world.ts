import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { type McpServer, readMcpConfig } from '../../src/effects/tools/mcp/mcp-config.ts'
import type { McpTimeouts } from '../../src/effects/tools/mcp/mcp-connection.ts'
import {
  inspectMcpServer,
  type McpParts,
  type McpRefusal,
  type McpTools,
  openMcpTools,
} from '../../src/effects/tools/mcp/mcp-tools.ts'
import { readMcpTrust, trustMcpServer } from '../../src/effects/tools/mcp/mcp-trust.ts'
import { runOnMachine } from '../../src/effects/tools/mcp/run-server.ts'
import { openOutputFiles } from '../../src/effects/tools/output-files.ts'
import type { ToolContext } from '../../src/effects/tools/tool.ts'
import { type AnsweredCall, answerCalls } from '../../src/effects/tools/tool-calls.ts'

/** In our environment, and in nobody else's. */
export const CANARY = 'canary-5f1c9a'

/** What an entry says, which is not for JavaScript to fill in. */
export const variable = (name: string) => `\${${name}}`

/** Puts the server into one file that any Node runs. */
export function bundleServer(): string {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-mcp-bundle-'))
  const args = ['--format=esm', '--platform=node', `--file=${folder}/worker.mjs`]
  execFileSync('node_modules/.bin/rolldown', ['test/mcp/server-worker.ts', ...args])
  return folder
}

/** The one server of a configuration with this entry. */
export function serverOf(entry: object): McpServer {
  const { servers, problems } = readMcpConfig(JSON.stringify({ mcpServers: { test: entry } }))
  const [server] = servers
  if (server === undefined) throw new Error(problems.join())
  return server
}

/** What servers have been found to offer; the same entry is the same server. */
const inspected = new Map<string, string>()

/** A state folder with a user who trusts, and what has to be ended afterwards. */
export class World {
  readonly folder = mkdtempSync(join(tmpdir(), 'slipway-mcp-'))
  readonly refusals: McpRefusal[] = []
  readonly #processes = openProcesses(this.folder)
  readonly #opened: McpTools[] = []
  readonly #startsFile: string
  readonly #bundle: string

  constructor(bundle: string) {
    this.#bundle = bundle
    this.#startsFile = join(bundle, 'starts')
    this.forgetStarts()
  }

  /** Our own server over its standard streams, in some mood. */
  ours(mood: object = {}, more: object = {}): McpServer {
    const given = JSON.stringify({ startsFile: this.#startsFile, ...mood })
    const args = [join(this.#bundle, 'worker.mjs'), given]
    return serverOf({ command: process.execPath, args, ...more })
  }

  /** The processes of our server that were started. */
  get starts(): readonly number[] {
    if (!existsSync(this.#startsFile)) return []
    return readFileSync(this.#startsFile, 'utf8').trim().split('\n').map(Number)
  }

  forgetStarts(): void {
    rmSync(this.#startsFile, { force: true })
  }

  parts(timeouts: Partial<McpTimeouts> = {}): McpParts {
    const environment = {
      PATH: process.env.PATH,
      HOME: this.folder,
      ANTHROPIC_API_KEY: CANARY,
      NAMED: 'nv-81LmQ0zP',
    }
    return {
      run: runOnMachine(this.#processes, this.folder, environment),
      environment,
      timeouts: { connectMs: 10_000, callMs: 10_000, ...timeouts },
    }
  }

  /** What a user does who looks at a server, and agrees. */
  async agree(server: McpServer, variables: readonly string[] = []): Promise<void> {
    const known = inspected.get(server.trustKey)
    const found = known === undefined && (await inspectMcpServer(server, variables, this.parts()))
    if (found && !found.ok) throw new Error(found.reason)
    const definitions = known ?? (found as { definitions: string }).definitions
    inspected.set(server.trustKey, definitions)
    await trustMcpServer(this.folder, server, { definitions, variables })
    this.forgetStarts()
  }

  async open(
    server: McpServer,
    timeouts?: Partial<McpTimeouts>,
    secrets: readonly string[] = [],
  ): Promise<McpTools> {
    const tools = await openMcpTools({
      ...this.parts(timeouts),
      secrets,
      servers: [server],
      trust: await readMcpTrust(this.folder),
      onRefused: (refusal) => this.refusals.push(refusal),
    })
    this.#opened.push(tools)
    return tools
  }

  /** Agrees to a server and opens it. */
  async use(server: McpServer, timeouts?: Partial<McpTimeouts>): Promise<McpTools> {
    await this.agree(server)
    return this.open(server, timeouts)
  }

  async call(
    { tools }: McpTools,
    name: string,
    input: unknown = {},
    signal = new AbortController().signal,
  ): Promise<AnsweredCall> {
    const outputs = openOutputFiles(join(this.folder, 'outputs'))
    const context = { workspace: this.folder, outputs, signal } as unknown as ToolContext
    const calls = [{ id: '1', name: `mcp__test__${name}`, input }]
    const [answer] = await answerCalls(tools, calls, context)
    return answer as AnsweredCall
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((tools) => tools.close()))
    await this.#processes.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
