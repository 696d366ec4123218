import { describeAnswer } from './mcp-answer.ts'
import type { McpEntry } from './mcp-config.ts'
import { connectServer, type McpConnection, type McpTimeouts } from './mcp-connection.ts'
import { definitionsHash, type McpDefinition } from './mcp-definitions.ts'
import type { RunServer } from './run-server.ts'

/** How often a server that has ended is started again within so long. */
const RESTARTS_MAX = 3
const RESTARTS_WITHIN_MS = 600_000
/** How often a server may say between two calls, and within so long, that its tools have changed. */
const CHECKS_MAX = 50
const CHECKS_WITHIN_MS = 60_000

const CHANGED = 'its tools have changed since it was trusted'

export interface SessionParts {
  readonly entry: McpEntry
  /** The hash of the tools that the user has agreed to. */
  readonly pinned: string
  readonly run: RunServer
  readonly timeouts: McpTimeouts
  readonly secrets: readonly string[]
  /** Called once, when the server may not be used any more. */
  readonly onRefused: (reason: string) => void
}

/**
 * One trusted server for as long as a run lasts. It is only ever used with the tools that were
 * agreed to: whenever it is started anew, or says that they changed, they are compared.
 */
export class McpSession {
  readonly #parts: SessionParts
  /** Resolves when the tools are known to be the ones that were agreed to. */
  #ready: Promise<McpConnection> | undefined
  #definitions: readonly McpDefinition[] = []
  #refusal: string | undefined
  #restartsMs: readonly number[] = []
  #checks = 0
  #checksSinceMs = 0

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** Starts it, and gives its tools. Rejects when it cannot be used, with why. */
  async open(): Promise<readonly McpDefinition[]> {
    await this.#start()
    return this.#definitions
  }

  /** What the server answers. Rejects with words for the model. */
  async call(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ReturnType<typeof describeAnswer> & { readonly isError: boolean }> {
    const connection = await this.#connection()
    this.#checks = 0
    const answer = await connection.call(tool, input, signal)
    return { ...describeAnswer(answer), isError: answer.isError === true }
  }

  async close(): Promise<void> {
    this.#refusal ??= 'the run has ended'
    const connection = await this.#ready?.catch(() => undefined)
    await connection?.close()
  }

  /** The connection that is open; where there is none, a new one, the same for all who ask. */
  async #connection(): Promise<McpConnection> {
    const known = this.#ready
    const connection = await known?.catch(() => undefined)
    if (this.#refusal !== undefined) throw new Error(this.#refusal)
    if (connection?.isOpen) return connection
    if (this.#ready === known) {
      this.#countRestart()
      return this.#start(connection)
    }
    return this.#connection()
  }

  /** One that lasted for a while since is not held to what was before. */
  #countRestart(): void {
    const nowMs = performance.now()
    const recentMs = this.#restartsMs.filter((atMs) => nowMs - atMs < RESTARTS_WITHIN_MS)
    if (recentMs.length >= RESTARTS_MAX) throw new Error('it has ended too often')
    this.#restartsMs = [...recentMs, nowMs]
  }

  #start(former?: McpConnection): Promise<McpConnection> {
    const { entry, run, timeouts, secrets } = this.#parts
    const onChanged = () => this.#checkAgain()
    const start = async () => {
      await former?.close()
      return this.#check(await connectServer(entry, { run, timeouts, secrets, onChanged }))
    }
    this.#ready = start()
    return this.#ready
  }

  /** Calls wait until it is known whether the tools are still the same. */
  #checkAgain(): void {
    const known = this.#ready
    if (known === undefined || this.#refusal !== undefined) return
    if (this.#checks === 0 || performance.now() - this.#checksSinceMs > CHECKS_WITHIN_MS) {
      this.#checks = 0
      this.#checksSinceMs = performance.now()
    }
    this.#checks += 1
    if (this.#checks > CHECKS_MAX) this.#refuse('it changes its tools all the time')
    this.#ready = known.then((connection) => this.#check(connection))
    this.#ready.catch(() => {})
  }

  async #check(connection: McpConnection): Promise<McpConnection> {
    try {
      if (this.#refusal !== undefined) throw new Error(this.#refusal)
      const definitions = await connection.list()
      if (definitionsHash(definitions) !== this.#parts.pinned) throw this.#refuse(CHANGED)
      this.#definitions = definitions
      return connection
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  #refuse(reason: string): Error {
    if (this.#refusal === undefined) this.#parts.onRefused(reason)
    this.#refusal ??= reason
    return new Error(reason)
  }
}
