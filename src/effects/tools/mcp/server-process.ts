import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { redact } from '../../guards/redaction.ts'
import type { Ended } from '../../process/command.ts'
import type { RunServer, ServerCommand } from './run-server.ts'

/** A message that is longer ends the connection. */
const MESSAGE_BYTES_MAX = 8 * 1024 * 1024
/** What may wait to be read by a server besides the last message. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024
const STDERR_BYTES_MAX = 16_384
const LAST_WORDS_CHARS_MAX = 500
/** How long a server may take to end by itself when its input has ended. */
const GRACE_MS = 500
const FOREVER_MS = 2 ** 31 - 1

/** Talks to a server over the standard streams of its process, which ends with the connection. */
export class ServerProcess implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  readonly #run: RunServer
  readonly #command: Pick<ServerCommand, 'argv' | 'env'>
  readonly #secrets: readonly string[]
  readonly #input = new PassThrough()
  readonly #stop = new AbortController()
  readonly #messages = new ReadBuffer({ maxBufferSize: MESSAGE_BYTES_MAX })
  #ended: Promise<void> | undefined
  #problem = ''

  constructor(
    run: RunServer,
    command: Pick<ServerCommand, 'argv' | 'env'>,
    secrets: readonly string[],
  ) {
    this.#run = run
    this.#command = command
    this.#secrets = secrets
    // One that was closed while something was being said to it is no failure of ours.
    this.#input.on('error', () => {})
  }

  /** How it ended, in words without secrets; empty while it runs. */
  get problem(): string {
    return this.#problem
  }

  async start(): Promise<void> {
    const command: ServerCommand = {
      ...this.#command,
      stdin: this.#input,
      onStdout: (chunk) => this.#take(chunk),
      timeoutMs: FOREVER_MS,
      outputBytesMax: STDERR_BYTES_MAX,
      signal: this.#stop.signal,
    }
    this.#ended = this.#run(command).then((ended) => this.#end(describeEnd(ended, this.#secrets)))
  }

  async send(message: JSONRPCMessage): Promise<void> {
    // One that asks without end and reads no answer would fill our memory.
    if (this.#input.writableLength + this.#input.readableLength > WAITING_BYTES_MAX) {
      this.#stop.abort()
      this.#end('it does not read what it is told')
    }
    if (this.#problem !== '') throw new Error(this.#problem)
    this.#input.write(serializeMessage(message))
  }

  async close(): Promise<void> {
    this.#input.end()
    const grace = new AbortController()
    const waiting = sleep(GRACE_MS, undefined, { signal: grace.signal }).catch(() => {})
    await Promise.race([this.#ended, waiting])
    grace.abort()
    this.#stop.abort()
    await this.#ended
  }

  /** Whoever waits for an answer is told at once, also while the process is still being ended. */
  #end(problem: string): void {
    if (this.#problem !== '') return
    this.#problem = problem
    this.#input.destroy()
    this.onclose?.()
  }

  #take(chunk: Buffer): void {
    if (this.#problem !== '') return
    try {
      this.#messages.append(chunk)
    } catch {
      this.#stop.abort()
      this.#end('it sent a message without end')
      return
    }
    for (;;) {
      try {
        const message = this.#messages.readMessage()
        if (message === null) return
        this.onmessage?.(message)
      } catch (error) {
        // A line that is no message is the server's talk, and the next one may be one.
        this.onerror?.(error as Error)
      }
    }
  }
}

/** Secrets are taken out first: a part of one would not be known for what it is. */
function describeEnd({ how, exitCode, stderr }: Ended, secrets: readonly string[]): string {
  const said = redact(stderr.toString().trim(), secrets).slice(-LAST_WORDS_CHARS_MAX)
  const end = how === 'exited' ? `its process ended with code ${exitCode}` : `its process: ${how}`
  return said === '' ? end : `${end}: ${said}`
}
