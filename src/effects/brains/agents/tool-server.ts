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
/** An agent that announces its calls does so at once; after this it will not. */
export const ANNOUNCING_MS_MAX = 10_000
const MESSAGE_BYTES_MAX = 8 * 1024 * 1024

/** More than any turn needs: an agent asks for the tools, and calls them. */
export const MESSAGES_MAX = 10_000
const SAID_BYTES_MAX = 64 * 1024 * 1024
const UNREAD_BYTES_MAX = 8 * 1024 * 1024
const LF = 0x0a

/**
 * Runs where the agent is, which starts it and talks to it over its standard streams: passes
 * everything on to our socket. The signal would let any process of the same user debug it.
 */
const BRIDGE = `
process.on('SIGUSR1', () => {})
const { connect } = require('node:net')
const socket = connect(process.argv[1])
process.stdin.pipe(socket).pipe(process.stdout)
socket.on('error', () => process.exit(1))
socket.on('close', () => process.exit(0))
`

/** Set to nothing, so that what an agent took from a repository runs nothing in there. */
const BRIDGE_ENVIRONMENT = { NODE_OPTIONS: '', NODE_REPL_EXTERNAL_MODULE: '', LD_PRELOAD: '' }

/** How an agent starts the way to our tools. */
export interface BridgeCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The command by which an agent reaches our tools, given the path of the socket where it is. */
export function bridgeCommand(node: string, socketPath: string): BridgeCommand {
  return { command: node, args: ['-e', BRIDGE, socketPath], env: BRIDGE_ENVIRONMENT }
}

/**
 * The tools of one turn, as an MCP server of our own. Nothing is executed: calls are told. Nor is
 * anything answered, since an agent that had an answer would think on: whoever calls has ended.
 * Only a call that counts for nothing is answered, with that.
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
  /** Settles when the agent was cut off, with what it did too much of. */
  readonly flooded: Promise<string>
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
  let flood: (what: string) => void = () => {}
  const flooded = new Promise<string>((resolve) => {
    flood = resolve
  })
  await door.open(settings.socketPath, (socket) => {
    bound(socket, flood)
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
    flooded,
    async close() {
      await handle?.close().catch(() => {})
      await door.close()
    },
  }
}

/** Cuts off who asks without end: each question is kept until it is answered, and most are not. */
function bound(socket: Socket, onFlood: (what: string) => void): void {
  let messages = 0
  let bytes = 0
  const cutOff = (what: string) => {
    socket.destroy()
    onFlood(what)
  }
  // Each answer that cannot be sent at once waits for itself.
  socket.setMaxListeners(0)
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, at + 1)) messages += 1
    if (messages > MESSAGES_MAX) cutOff(`sent our tools more than ${MESSAGES_MAX} messages`)
    else if (bytes > SAID_BYTES_MAX) cutOff(`sent our tools more than ${SAID_BYTES_MAX} bytes`)
    else if (socket.writableLength > UNREAD_BYTES_MAX) cutOff('does not read what our tools answer')
  })
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
  server.setRequestHandler('tools/call', async ({ params }) => {
    const call = { name: params.name, input: params.arguments ?? {} }
    if (!gathering.add(call)) {
      await new Promise((resolve) => setTimeout(resolve, ANNOUNCING_MS_MAX).unref())
      if (gathering.giveUp(call))
        return { content: [{ type: 'text', text: UNHEARD }], isError: true }
    }
    return new Promise<never>(() => {})
  })
  return server
}

/** What an agent is told that is too old to announce its calls, or somebody who is not the agent. */
const UNHEARD =
  'This call does not count: the program did not announce it. It may have to be updated.'

type WantedCall = Pick<ToolCall, 'name' | 'input'>

/** The calls of a turn. */
class Gathering {
  readonly calls: ToolCall[] = []
  readonly begun: Promise<void>
  readonly called: Promise<readonly ToolCall[]>
  readonly #settings: Pick<ToolServerSettings, 'idPrefix' | 'areAnnounced'>
  readonly #heard = new WeakSet<WantedCall>()
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

  /** Takes a call in. False where it has to be announced, and is not yet. */
  add(call: WantedCall): boolean {
    const announced = this.#announced.find((one) => isDeepStrictEqual(one, call))
    if (this.#settings.areAnnounced && announced === undefined) {
      this.#unannounced = [...this.#unannounced, call].slice(-CALLS_MAX)
      return false
    }
    this.#announced = this.#announced.filter((one) => one !== announced)
    this.#take(call)
    return true
  }

  /** Waits no longer for a call to be announced. False where it was. */
  giveUp(call: WantedCall): boolean {
    this.#unannounced = this.#unannounced.filter((one) => one !== call)
    return !this.#heard.has(call)
  }

  announce(name: string, input: unknown): void {
    const call = { name, input }
    const waiting = this.#unannounced.find((one) => isDeepStrictEqual(one, call))
    if (waiting === undefined) this.#announced = [...this.#announced, call].slice(-CALLS_MAX)
    else this.#take(waiting)
    this.#unannounced = this.#unannounced.filter((one) => one !== waiting)
  }

  /** Takes a call in, unless it comes too late to be of the same reply. */
  #take(call: WantedCall): void {
    const { name, input } = call
    this.#heard.add(call)
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
