import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Reply, says } from './answer.ts'
import { type CacheReport, PromptCache } from './prompt-cache.ts'
import { answerSideRoute } from './side-routes.ts'
import type { ReplyFacts, Wire, WireName } from './wire.ts'
import { WIRES } from './wires.ts'

const HTML = '<!doctype html><html><head><title>Sign in to the network</title></head></html>'

/** One request for a reply, as it came, and what became of it. */
export interface SeenRequest extends CacheReport {
  readonly wire: WireName
  readonly number: number
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Readonly<Record<string, unknown>>
  readonly bytes: number
  readonly model: string
  /** Milliseconds since the server started: when the request began to arrive. */
  readonly arrivedMs: number
  /** When it was there as a whole. */
  readonly startedMs: number
  /** When the last byte of the answer was handed over; undefined until then. */
  answeredMs: number | undefined
  /** Undefined while the connection is busy with it. */
  endedMs: number | undefined
  /** Whether the client went away before its answer was whole. */
  isGivenUp: boolean
}

/** What to answer, by the request; the same script serves every wire. */
type Script = (request: SeenRequest) => Answer

/** A server on the loopback that speaks the protocols of model providers. */
export interface ProviderServer {
  /** Without a path: what follows it is the provider's own. */
  readonly url: string
  readonly requests: readonly SeenRequest[]
  /** Answers like this from now on. */
  answer(script: Script | Answer): void
  /** Answers once each in turn, then with the last. */
  answerInTurn(...answers: readonly Answer[]): void
  close(): Promise<void>
}

export async function startProviderServer(): Promise<ProviderServer> {
  const state = new ServerState()
  const server = createServer((request, response) => {
    handle(state, request, response).catch((error) => {
      // A fault of this server must not look like one of the client.
      response.writeHead(599).end(`the provider server failed: ${error}`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: state.requests,
    answer(script) {
      state.script = typeof script === 'function' ? script : () => script
    },
    answerInTurn(...answers) {
      let next = 0
      state.script = () => {
        const answer = answers[Math.min(next, answers.length - 1)]
        next += 1
        return answer ?? says('')
      }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

class ServerState {
  readonly requests: SeenRequest[] = []
  readonly cache = new PromptCache()
  readonly #startMs = performance.now()
  script: Script = () => says('Hello.')

  nowMs(): number {
    return performance.now() - this.#startMs
  }
}

async function handle(
  state: ServerState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const arrivedMs = state.nowMs()
  const path = new URL(request.url ?? '/', 'http://localhost').pathname
  const text = await readText(request)
  const wire = request.method === 'POST' ? WIRES.find((one) => one.matches(path)) : undefined
  if (wire === undefined) {
    const { status, body } = answerSideRoute(request.method ?? 'GET', path, text)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    return
  }
  const seen = note(state, wire, path, request, { text, arrivedMs })
  response.on('finish', () => {
    seen.answeredMs = state.nowMs()
  })
  response.on('close', () => {
    seen.endedMs = state.nowMs()
    seen.isGivenUp = !response.writableFinished
  })
  await send(wire, state.script(seen), seen, response)
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function note(
  state: ServerState,
  wire: Wire,
  path: string,
  { headers }: IncomingMessage,
  { text, arrivedMs }: { readonly text: string; readonly arrivedMs: number },
): SeenRequest {
  const body = JSON.parse(text)
  const model = wire.modelOf(path, body)
  const isMarking = wire.name === 'anthropic'
  const seen: SeenRequest = {
    wire: wire.name,
    number: state.requests.length + 1,
    path,
    headers,
    body,
    bytes: Buffer.byteLength(text),
    model,
    ...state.cache.measure(`${wire.name} ${model}`, wire.blocksOf(body), isMarking),
    arrivedMs,
    startedMs: state.nowMs(),
    answeredMs: undefined,
    endedMs: undefined,
    isGivenUp: false,
  }
  state.requests.push(seen)
  return seen
}

async function send(
  wire: Wire,
  answer: Answer,
  seen: SeenRequest,
  response: ServerResponse,
): Promise<void> {
  if ('error' in answer) {
    const { status, headers, body } = wire.errorOf(answer.error, seen.model)
    const key = keyOf(seen)
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      ...headers,
      ...answer.headers,
    })
    response.end(JSON.stringify(body).replace('GIVEN-KEY', key))
    return
  }
  if ('raw' in answer) {
    response.writeHead(answer.status ?? 200, {
      'content-type': wire.contentType,
      ...answer.headers,
    })
    for (const chunk of answer.raw) await write(response, chunk)
    finish(response, answer.end ?? 'end')
    return
  }
  if ('broken' in answer) return sendBroken(wire, answer, seen, response)
  if (!wire.isStreaming(seen.path, seen.body)) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(wire.bodyOf(answer.reply, factsOf(answer.reply, seen))))
    return
  }
  response.writeHead(200, { 'content-type': wire.contentType, 'cache-control': 'no-cache' })
  for (const frame of wire.framesOf(answer.reply, factsOf(answer.reply, seen))) {
    if (answer.frameDelayMs !== undefined) await sleep(answer.frameDelayMs)
    await write(response, frame)
  }
  response.end()
}

async function sendBroken(
  wire: Wire,
  {
    broken,
    reply = { parts: [{ type: 'text', text: 'Half a sentence, and then' }] },
    frames,
  }: Extract<Answer, { broken: unknown }>,
  seen: SeenRequest,
  response: ServerResponse,
): Promise<void> {
  if (broken === 'silent') return
  const isPage = broken === 'html'
  response.writeHead(200, { 'content-type': isPage ? 'text/html' : wire.contentType })
  if (broken === 'empty') return finish(response, 'end')
  if (isPage) {
    response.end(HTML)
    return
  }
  const all = wire.framesOf(reply, factsOf(reply, seen))
  const sent = all.slice(0, frames ?? Math.ceil(all.length / 2))
  for (const frame of sent) await write(response, frame)
  if (broken === 'garbage') await write(response, wire.garbageFrame)
  if (broken === 'error_in_stream') await write(response, wire.errorFrame)
  finish(response, broken === 'cut' ? 'cut' : broken === 'stalled' ? 'stall' : 'end')
}

function finish(response: ServerResponse, end: 'end' | 'cut' | 'stall'): void {
  if (end === 'end') response.end()
  if (end === 'cut') response.destroy()
}

/** Resolves when the chunk has left, so that a cut comes after it. */
function write(response: ServerResponse, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) resolve()
    else response.write(chunk, () => resolve())
  })
}

function factsOf(reply: Reply, seen: SeenRequest): ReplyFacts {
  const { number, model, inputTokens, cachedTokens, cacheWriteTokens, body } = seen
  const outputTokens = reply.outputTokens ?? Math.ceil(JSON.stringify(reply.parts).length / 4)
  return { number, model, inputTokens, cachedTokens, cacheWriteTokens, outputTokens, body }
}

/** OpenAI repeats the key that it does not know; a client has to keep it from its logs. */
function keyOf({ headers }: SeenRequest): string {
  const key = headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization ?? ''
  return String(key).replace(/^Bearer /, '')
}
