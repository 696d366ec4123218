import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, type LookupFunction, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { isPublic, parseHosts } from './host-list.ts'

const CONNECTIONS_MAX = 128
const CONNECT_MS_MAX = 15_000
const IDLE_MS_MAX = 120_000
const HOP_HEADERS = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/

/** The one way out of a sandbox: a proxy that lets listed hosts through. */
export interface EgressProxy {
  close(): Promise<void>
}

/** Looks a name up, as the system does. */
type Resolve = (host: string) => Promise<readonly LookupAddress[]>

/** Opens a proxy for HTTP and HTTPS on a unix socket. Rejects a list that it cannot read. */
export async function openEgressProxy(
  socketPath: string,
  hosts: readonly string[],
  resolve: Resolve = (host) => lookup(host, { all: true }),
): Promise<EgressProxy> {
  const list = parseHosts(hosts)
  const sockets = new Set<Duplex>()
  const find: Find = async (hostname, port) => {
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    const listed = list.find(host, port)
    if (listed === undefined) throw new Refusal(`${host} is not an allowed host at port ${port}`)
    const found = await resolve(host)
    const usable = found.filter(({ address }) => listed === 'exactly' || isPublic(address))
    if (usable.length === 0) throw new Refusal(`${host} is in a private network`)
    // Looked up once: what was checked is what is connected to.
    return {
      host,
      port,
      autoSelectFamily: true,
      lookup: (_host, _options, give) => give(null, [...usable]),
    }
  }
  const server = createServer()
  server.maxConnections = CONNECTIONS_MAX
  server.on('connection', (socket) => track(sockets, socket))
  server.on('connect', (message, near, head) => {
    void tunnel({ message, near, head, find, sockets })
  })
  server.on('request', (message, response) => void forward(message, response, find))
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(socketPath, done)
  })
  return {
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise((done) => server.close(() => done()))
    },
  }
}

/** Something that the list does not allow. */
class Refusal extends Error {}

/** Where a host is. Rejects when it may not be reached. */
type Find = (
  hostname: string,
  port: number,
) => Promise<{
  readonly host: string
  readonly port: number
  readonly autoSelectFamily: true
  readonly lookup: LookupFunction
}>

function track(sockets: Set<Duplex>, socket: Socket): void {
  sockets.add(socket)
  socket.setTimeout(IDLE_MS_MAX, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.on('close', () => sockets.delete(socket))
}

interface Tunnel {
  readonly message: IncomingMessage
  readonly near: Duplex
  readonly head: Buffer
  readonly find: Find
  readonly sockets: Set<Duplex>
}

async function tunnel({ message, near, head, find, sockets }: Tunnel): Promise<void> {
  try {
    const { hostname, port } = new URL(`tunnel://${message.url ?? ''}`)
    const far = await reach(await find(hostname, Number(port || 443)))
    track(sockets, far)
    // Not before what it still has to say is said: the last bytes may wait for the reader.
    near.on('close', () => far.destroySoon())
    far.on('close', () => near.end(() => near.destroy()))
    if (near.destroyed) far.destroy()
    near.write('HTTP/1.1 200 Connection established\r\n\r\n')
    far.write(head)
    near.pipe(far).pipe(near)
  } catch (error) {
    const { status, text } = explain(error)
    near.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\n\r\n${text}\n`)
  }
}

function reach(place: Awaited<ReturnType<Find>>): Promise<Socket> {
  return new Promise((done, fail) => {
    const socket = connect({ ...place, timeout: CONNECT_MS_MAX })
    socket.once('connect', () => done(socket))
    socket.once('timeout', () => socket.destroy(new Error('it does not answer')))
    socket.once('error', fail)
  })
}

async function forward(
  message: IncomingMessage,
  response: ServerResponse,
  find: Find,
): Promise<void> {
  const fail = (error: unknown) => {
    const { status, text } = explain(error)
    if (response.headersSent || response.destroyed) response.destroy()
    else response.writeHead(status, { connection: 'close' }).end(`${text}\n`)
  }
  try {
    const url = new URL(message.url ?? '')
    if (url.protocol !== 'http:') throw new Refusal(`${url.protocol} is not forwarded`)
    const options = {
      ...(await find(url.hostname, Number(url.port || 80))),
      method: message.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...endToEnd(message.headers), host: url.host },
      agent: false,
      timeout: CONNECT_MS_MAX,
    } as const
    const onward = request(options, (answer) => {
      answer.on('error', fail)
      // What is thrown in here would end the orchestrator, and a host says what it likes.
      try {
        onward.setTimeout(IDLE_MS_MAX)
        response.writeHead(statusOf(answer), endToEnd(answer.headers))
        answer.pipe(response)
      } catch (error) {
        fail(error)
        onward.destroy()
      }
    })
    // Else there would be no answer at all: nobody asked for another protocol.
    onward.on('upgrade', (_, socket) => {
      socket.destroy()
      fail(new Error('it changed the protocol'))
    })
    onward.on('timeout', () => onward.destroy(new Error('it does not answer')))
    onward.on('error', fail)
    response.on('close', () => onward.destroy())
    message.pipe(onward)
  } catch (error) {
    fail(error)
  }
}

/** The status of an answer. Throws when it is none, as 050 is none. */
function statusOf({ statusCode = 0 }: IncomingMessage): number {
  if (statusCode >= 200 && statusCode <= 999) return statusCode
  throw new Error(`it answered with the status ${statusCode}`)
}

function endToEnd(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_HEADERS.test(name)))
}

function explain(error: unknown): { readonly status: number; readonly text: string } {
  if (error instanceof Refusal) return { status: 403, text: error.message }
  if ((error as NodeJS.ErrnoException).code === 'ERR_INVALID_URL') {
    return { status: 400, text: 'the proxy needs a whole address' }
  }
  return { status: 502, text: (error as Error).message }
}
