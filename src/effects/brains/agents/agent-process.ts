import { PassThrough, Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { Ended } from '../../process/command.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'

const OUTPUT_BYTES_MAX = 64 * 1024
const WORDS_CHARS_MAX = 2_000

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

/** The last that a process said, for people. */
export function lastWords({ how, exitCode, stderr, stdout }: Ended): string {
  const said = (stderr.toString().trim() || stdout.toString().trim()).slice(-WORDS_CHARS_MAX)
  const end = exitCode === null ? how : `${how} with ${exitCode}`
  return said === '' ? `the agent ${end}` : `the agent ${end}: ${said}`
}
