import { createServer, type Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { Server } from '@modelcontextprotocol/server'
import {
  type StdioServerHandle,
  StdioServerTransport,
  serveStdio,
} from '@modelcontextprotocol/server/stdio'
import type { ToolCall, ToolDefinition } from '../brain.ts'
import { TOOL_SERVER } from './agent-prompt.ts'

/** What a model calls at once arrives within this time. */
const GATHERING_MS = 100
const CALLS_MAX = 64
const MESSAGE_BYTES_MAX = 8 * 1024 * 1024

/**
 * Runs where the agent is, which starts it and talks to it over its standard streams: passes
 * everything on to our socket.
 */
const BRIDGE = `
const { connect } = require('node:net')
const socket = connect(process.argv[1])
process.stdin.pipe(socket).pipe(process.stdout)
socket.on('error', () => process.exit(1))
socket.on('close', () => process.exit(0))
`

/** The command by which an agent reaches our tools, given the path of the socket where it is. */
export function bridgeCommand(
  node: string,
  socketPath: string,
): { readonly command: string; readonly args: readonly string[] } {
  return { command: node, args: ['-e', BRIDGE, socketPath] }
}

/**
 * The tools of one turn, as an MCP server of our own. Nothing is executed: calls are told. Nor is
 * anything answered, since an agent that had an answer would think on: whoever calls has ended.
 */
export interface ToolServer {
  /** Whether the agent's client has connected. It is the only one that ever can. */
  readonly isJoined: boolean
  /**
   * Waits for the agent's client, until the signal at the latest; from then on nobody can connect.
   * Says whether it has come.
   */
  join(signal: AbortSignal): Promise<boolean>
  /** The agent says itself that it calls a tool, before or after the call comes. */
  announce(name: string, input: unknown): void
  /** Settles as the first call comes. */
  readonly begun: Promise<void>
  /** Settles with the first call, and those that came with it. */
  readonly called: Promise<readonly ToolCall[]>
  /** The calls until now. */
  readonly calls: readonly ToolCall[]
  close(): Promise<void>
}

export interface ToolServerSettings {
  readonly socketPath: string
  readonly tools: readonly ToolDefinition[]
  /** Put before the number of a call, so that no other turn has the same. */
  readonly idPrefix: string
  /** Whether a call that the agent does not announce is nobody's, and not heard. */
  readonly areAnnounced?: boolean
}

/**
 * Opens a server on a unix socket. Rejects when the socket cannot be made. Whatever runs where the
 * agent is sees the socket, such as tests that a coder wrote, so it is gone once the agent's client
 * has connected, which agents see to before their model can have anything run.
 */
export async function openToolServer(settings: ToolServerSettings): Promise<ToolServer> {
  const gathering = new Gathering(settings)
  const door = new Door()
  let handle: StdioServerHandle | undefined
  await door.open(settings.socketPath, (socket) => {
    const transport = new StdioServerTransport(socket, socket, { maxBufferSize: MESSAGE_BYTES_MAX })
    const onerror = () => socket.destroy()
    handle = serveStdio(() => makeServer(settings.tools, gathering), { transport, onerror })
  })
  return {
    get isJoined() {
      return door.isPassed
    },
    join: (signal) => door.passed(signal),
    announce: (name, input) => gathering.announce(name, input ?? {}),
    begun: gathering.begun,
    called: gathering.called,
    calls: gathering.calls,
    async close() {
      await handle?.close().catch(() => {})
      await door.close()
    },
  }
}

/** A unix socket that takes one connection. */
class Door {
  readonly #server = createServer((socket) => this.#enter(socket))
  readonly #entered = new AbortController()
  #socket: Socket | undefined
  #use: (socket: Socket) => void = () => {}

  get isPassed(): boolean {
    return this.#socket !== undefined
  }

  async open(path: string, use: (socket: Socket) => void): Promise<void> {
    this.#use = use
    await new Promise<void>((done, fail) => {
      this.#server.once('error', fail)
      this.#server.listen(path, done)
    })
  }

  /** Waits for the connection until the signal, and then takes none any more. */
  async passed(signal: AbortSignal): Promise<boolean> {
    const either = AbortSignal.any([this.#entered.signal, signal])
    await new Promise<void>((resolve) => {
      if (either.aborted) resolve()
      either.addEventListener('abort', () => resolve(), { once: true })
    })
    this.#shut()
    return this.isPassed
  }

  async close(): Promise<void> {
    this.#socket?.destroy()
    if (!this.#server.listening) return
    await new Promise((done) => this.#server.close(done))
  }

  #enter(socket: Socket): void {
    socket.on('error', () => socket.destroy())
    // Several may have come before the first was heard of.
    if (this.isPassed || !this.#server.listening) {
      socket.destroy()
      return
    }
    this.#socket = socket
    this.#shut()
    this.#use(socket)
    this.#entered.abort()
  }

  /** Takes the socket away from where it is seen. */
  #shut(): void {
    if (this.#server.listening) this.#server.close()
  }
}

function makeServer(tools: readonly ToolDefinition[], gathering: Gathering): Server {
  const server = new Server(
    { name: TOOL_SERVER, version: '1.0.0' },
    { capabilities: { tools: {} } },
  )
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map(({ name, description, input }) => ({
      name,
      description,
      inputSchema: { ...input, type: 'object' as const },
    })),
  }))
  server.setRequestHandler('tools/call', ({ params }) => {
    gathering.add(params.name, params.arguments ?? {})
    return new Promise(() => {})
  })
  return server
}

type WantedCall = Pick<ToolCall, 'name' | 'input'>

/** The calls of a turn. */
class Gathering {
  readonly calls: ToolCall[] = []
  readonly begun: Promise<void>
  readonly called: Promise<readonly ToolCall[]>
  readonly #settings: Pick<ToolServerSettings, 'idPrefix' | 'areAnnounced'>
  #announced: readonly WantedCall[] = []
  #unannounced: readonly WantedCall[] = []
  #begin = () => {}
  #settle: (calls: readonly ToolCall[]) => void = () => {}
  #isOver = false

  constructor(settings: Pick<ToolServerSettings, 'idPrefix' | 'areAnnounced'>) {
    this.#settings = settings
    this.begun = new Promise((resolve) => {
      this.#begin = resolve
    })
    this.called = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /** Takes a call in, once it is announced where it has to be. */
  add(name: string, input: unknown): void {
    const call = { name, input }
    const announced = this.#announced.find((one) => isDeepStrictEqual(one, call))
    if (this.#settings.areAnnounced && announced === undefined) {
      this.#unannounced = [...this.#unannounced, call].slice(-CALLS_MAX)
      return
    }
    this.#announced = this.#announced.filter((one) => one !== announced)
    this.#take(call)
  }

  announce(name: string, input: unknown): void {
    const call = { name, input }
    const waiting = this.#unannounced.find((one) => isDeepStrictEqual(one, call))
    if (waiting === undefined) this.#announced = [...this.#announced, call].slice(-CALLS_MAX)
    else this.#take(call)
    this.#unannounced = this.#unannounced.filter((one) => one !== waiting)
  }

  /** Takes a call in, unless it comes too late to be of the same reply. */
  #take({ name, input }: WantedCall): void {
    if (this.calls.length === 0) {
      setTimeout(() => this.#end(), GATHERING_MS)
      this.#begin()
    }
    if (this.#isOver || this.calls.length >= CALLS_MAX) return
    this.calls.push({ id: `${this.#settings.idPrefix}${this.calls.length + 1}`, name, input })
  }

  #end(): void {
    this.#isOver = true
    this.#settle(this.calls)
  }
}
