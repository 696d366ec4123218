import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fullDisk } from '../../journal/file-system.ts'
import type { Condition } from './control.ts'
import { EngineGoneError, EngineSilentError, errorOf } from './engine-error.ts'
import { lacksRoom } from './lack-of-room.ts'

/** An engine that can be asked. */
interface AskedEngine {
  readonly stateFolder: string
  readonly socket: string
  readonly pid: number
  /** So long it may be without a sign of life. */
  readonly silentMs: number
}

const TICKS = 5

/**
 * Asks an engine, which may take as long as it likes while it gives other signs of life. One that
 * waits for room does nothing until there is some, and who asked is told so.
 */
export function ask(engine: AskedEngine, name: string, args: readonly unknown[]): Promise<unknown> {
  return unlessEnded(engine, name, args, async (signal) => {
    for (;;) {
      await wait(engine, signal)
      // Whatever is said is a sign, and the end of the engine is told by the call itself.
      const condition = await askBriefly(engine, 'condition', [], signal).catch((error) => {
        if (error instanceof EngineSilentError) throw error
      })
      if (lacksRoom((condition as Condition | undefined)?.health)) {
        throw fullDisk(engine.stateFolder)
      }
    }
  })
}

/** Asks an engine what it can say at once. */
export function askBriefly(
  engine: AskedEngine,
  name: string,
  args: readonly unknown[],
  until?: AbortSignal,
): Promise<unknown> {
  const ended = until === undefined ? [] : [until]
  return unlessEnded(engine, name, args, async (signal) => {
    await wait(engine, AbortSignal.any([signal, ...ended]))
    throw new EngineSilentError(engine.pid)
  })
}

/** Waits for an answer for as long as the other does not throw. */
async function unlessEnded(
  { socket }: AskedEngine,
  name: string,
  args: readonly unknown[],
  watch: (signal: AbortSignal) => Promise<never>,
): Promise<unknown> {
  const over = new AbortController()
  try {
    return await Promise.race([send(socket, name, args, over.signal), watch(over.signal)])
  } finally {
    over.abort()
  }
}

/** In several parts: whoever is stopped itself meanwhile has not waited, however late it is. */
async function wait({ silentMs }: AskedEngine, signal: AbortSignal): Promise<void> {
  for (let i = 0; i < TICKS; i += 1) await sleep(silentMs / TICKS, undefined, { signal })
}

/** One that ends is gone, also in the middle of what it says. */
async function send(
  socket: string,
  name: string,
  args: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  const { status, text } = await exchange(socket, name, args, signal).catch(({ message }) => {
    throw new EngineGoneError(
      `The engine does not answer (${message}). slipway status shows the run.`,
    )
  })
  const answer = JSON.parse(text)
  if (status !== 200) throw errorOf(answer.name, answer.error)
  return answer.value
}

/** Sends a request, and gives all that is said to it. */
function exchange(
  socket: string,
  name: string,
  args: readonly unknown[],
  signal: AbortSignal,
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const options = { socketPath: socket, path: `/${name}`, method: 'POST', signal }
    const outgoing = request(options, (response) => {
      readText(response).then((text) => resolve({ status: response.statusCode, text }), reject)
    })
    outgoing.on('error', reject)
    outgoing.end(JSON.stringify(args))
  })
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
