import { PassThrough, Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { Ended } from '../../process/command.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'

const OUTPUT_BYTES_MAX = 64 * 1024

/** The longest line that is read of what an agent prints: one may hold a file before and after. */
export const LINE_BYTES_MAX = 64 * 1024 * 1024

/** A process that is talked to for as long as it lives. */
export interface AgentProcess {
  readonly input: PassThrough
  readonly output: ReadableStream<Uint8Array>
  /** Settles when it has ended, with all that it started. */
  readonly ended: Promise<Ended>
}

/** Starts a process in a sandbox; closing the sandbox ends it. */
export function startAgentProcess(
  sandbox: Sandbox,
  command: {
    readonly argv: readonly [string, ...string[]]
    readonly env: Readonly<Record<string, string>>
    readonly timeoutMs: number
  },
): AgentProcess {
  const input = new PassThrough()
  const output = new PassThrough()
  const ended = sandbox.run({
    ...command,
    stdin: input,
    onStdout: (chunk) => output.write(chunk),
    outputBytesMax: OUTPUT_BYTES_MAX,
  })
  void ended.then(() => output.end())
  return { input, output: Readable.toWeb(output), ended }
}
