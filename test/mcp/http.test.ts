import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import {
  createMcpHandler,
  type JSONRPCMessage,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inspectMcpServer } from '../../src/effects/tools/mcp/mcp-tools.ts'
import { makeServer, type ServerMood } from './make-server.ts'
import { serverOf, variable, World } from './world.ts'

type Answer = (request: Request) => Promise<Response>

let world: World
let servers: Server[]
let seen: IncomingMessage[]

beforeEach(() => {
  world = new World('/nonexistent')
  servers = []
  seen = []
})

afterEach(async () => {
  await world.close()
  for (const server of servers) {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
})

/** A server on this machine that answers as it is told, and notes what it was asked. */
async function serve(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    seen.push(request)
    void relay(request, response, answer).catch(() => response.destroy())
  })
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

async function relay(request: IncomingMessage, response: ServerResponse, answer: Answer) {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = chunks.length === 0 ? null : Buffer.concat(chunks)
  const headers = Object.entries(request.headers) as [string, string][]
  const { method = 'GET', url = '/' } = request
  const answered = await answer(new Request(`http://test${url}`, { method, headers, body }))
  response.writeHead(answered.status, Object.fromEntries(answered.headers))
  response.flushHeaders()
  if (answered.body === null) response.end()
  else
    Readable.fromWeb(answered.body as NodeStream)
      .on('error', () => {})
      .pipe(response)
}

/** A real server in some mood, which knows nobody from one request to the next. */
const stateless = (mood: ServerMood = {}): Answer => {
  const handler = createMcpHandler(() => makeServer(mood))
  return (request) => handler.fetch(request)
}

/** One that keeps sessions, over which it can say that its tools have changed. */
function sessionful(): Answer {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  return async (request) => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
    if (known !== undefined) return known.handleRequest(request)
    const sessionIdGenerator = () => `session-${sessions.size}`
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator,
      onsessioninitialized: (id) => {
        sessions.set(id, transport)
      },
    })
    await makeServer({}).connect(transport)
    return transport.handleRequest(request)
  }
}

/** One of the older kind: what it says comes over a stream, what it is told over requests. */
function older(): Answer {
  let told: ((message: JSONRPCMessage) => void) | undefined
  return async (request) => {
    if (request.method === 'POST') {
      told?.((await request.json()) as JSONRPCMessage)
      return new Response(null, { status: 202 })
    }
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const say = async (event: string, data: string) => {
      await writer.write(Buffer.from(`event: ${event}\ndata: ${data}\n\n`))
    }
    const transport: Transport = {
      start: async () => {},
      send: (message) => say('message', JSON.stringify(message)),
      close: async () => {},
    }
    await makeServer({}).connect(transport)
    told = (message) => transport.onmessage?.(message)
    void say('endpoint', '/said')
    return new Response(readable, eventType)
  }
}

const remote = (url: string, more: object = {}) => serverOf({ type: 'http', url, ...more })

describe('a server behind an address', () => {
  test('that is not trusted is asked nothing', async () => {
    const server = remote(await serve(stateless()))
    expect((await world.open(server)).refused[0]?.reason).toBe('it is not trusted')
    expect(seen).toEqual([])
  })

  test('whose entry has changed is asked nothing', async () => {
    const url = await serve(stateless())
    await world.agree(remote(url))
    seen.length = 0
    const { refused } = await world.open(remote(url, { headers: { 'x-more': 'y' } }))
    expect(refused[0]?.reason).toMatch(/entry .* has changed/)
    expect(seen).toEqual([])
  })

  test('is called, with the headers that were agreed to', async () => {
    const headers = { authorization: `Bearer ${variable('NAMED')}` }
    const server = remote(await serve(stateless()), { headers })
    await world.agree(server, ['NAMED'])
    const tools = await world.open(server)
    expect((await world.call(tools, 'add', { a: 2, b: 40 })).text).toBe('42')
    expect(seen.length).toBeGreaterThan(4)
    for (const request of seen) expect(request.headers.authorization).toBe('Bearer nv-81LmQ0zP')
  })

  test('of the older kind is called', async () => {
    const tools = await world.use(serverOf({ type: 'sse', url: await serve(older()) }))
    expect((await world.call(tools, 'add', { a: 2, b: 40 })).text).toBe('42')
    await world.call(tools, 'change')
    expect((await world.call(tools, 'count')).text).toMatch(/its tools have changed/)
  })

  test('is never sent a bad call', async () => {
    const tools = await world.use(remote(await serve(stateless())))
    seen.length = 0
    expect((await world.call(tools, 'add', { a: 1, b: 'x' })).isError).toBe(true)
    expect(seen).toEqual([])
  })

  test('whose tools have changed is refused', async () => {
    const url = await serve(stateless({ description: 'Adds. And more.' }))
    const before = remote(await serve(stateless()))
    await world.agree(before)
    const { tools, refused } = await world.open({ ...remote(url), trustKey: before.trustKey })
    expect(tools).toEqual([])
    expect(refused[0]?.reason).toBe('its tools have changed since it was trusted')
  })

  test('whose tools change in a session is refused', async () => {
    const tools = await world.use(remote(await serve(sessionful())))
    expect((await world.call(tools, 'change')).text).toBe('changed')
    await expect.poll(() => world.refusals).toHaveLength(1)
    expect((await world.call(tools, 'add', { a: 1, b: 1 })).text).toMatch(/its tools have changed/)
  })
})

describe('an address that misbehaves', () => {
  const inspect = (url: string, connectMs = 5_000) =>
    inspectMcpServer(remote(url), ['NAMED'], world.parts({ connectMs }))

  test('by leading elsewhere is not followed', async () => {
    const other = await serve(stateless())
    const url = await serve(async () => Response.redirect(other, 307))
    expect(await inspect(url)).toMatchObject({ ok: false })
    const ports = seen.map(({ socket }) => socket.localPort)
    expect(ports).not.toContain(Number(new URL(other).port))
    expect(ports.length).toBeGreaterThan(0)
  })

  test.each<[string, Answer, RegExp]>([
    ['never answers', () => new Promise(() => {}), /timed out/i],
    ['answers garbage', async () => new Response('{]', jsonType), /./],
    ['answers a page', async () => new Response('<html>', { status: 200 }), /./],
    ['knows nothing', async () => new Response('no', { status: 404 }), /404/],
    ['has trouble', async () => new Response('sorry', { status: 500 }), /500/],
    ['wants a login', async () => new Response('', { status: 401 }), /401|unauthorized/i],
    ['answers without end', async () => new Response(endless(), jsonType), /without end/],
    ['streams without end', async () => new Response(endless(), eventType), /./],
  ])('because it %s is refused', async (what, answer, reason) => {
    const url = await serve(answer)
    const connectMs = /never|streams/.test(what) ? 700 : 9_000
    const found = await inspect(url, connectMs)
    expect(found).toMatchObject({ ok: false, reason: expect.stringMatching(reason) })
  })

  test.each(['file:///etc/passwd', 'not an address', 'ws://127.0.0.1/'])(
    'as %s is refused',
    async (url) => expect(await inspect(url)).toMatchObject({ ok: false }),
  )

  test('by being gone is an error of that call', async () => {
    const tools = await world.use(remote(await serve(stateless())))
    for (const server of servers) server.closeAllConnections()
    await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
    servers.length = 0
    expect((await world.call(tools, 'add', { a: 1, b: 1 })).text).toMatch(/gave no answer/)
  })

  test.each([429, 500, 503])('with %i is an error of that call alone', async (status) => {
    const answer = sessionful()
    let isBusy = false
    const url = await serve(async (request) =>
      isBusy ? new Response('busy', { status }) : answer(request),
    )
    const tools = await world.use(remote(url))
    const before = seen.length
    for (let i = 0; i < 5; i += 1) {
      isBusy = true
      const busy = await world.call(tools, 'add', { a: 1, b: 1 })
      expect(busy).toMatchObject({ isError: true, text: expect.stringContaining(`HTTP ${status}`) })
      isBusy = false
      expect((await world.call(tools, 'add', { a: 1, b: 1 })).text).toBe('2')
    }
    expect(seen.length - before).toBe(10)
  })

  test('by forgetting us is connected to anew', async () => {
    let answer = sessionful()
    const tools = await world.use(remote(await serve((request) => answer(request))))
    for (let i = 0; i < 2; i += 1) {
      answer = sessionful()
      expect(await world.call(tools, 'add', { a: 1, b: 1 })).toMatchObject({ isError: true })
      expect((await world.call(tools, 'add', { a: 1, b: 1 })).text).toBe('2')
    }
  })

  test('with a call that hangs does not hold us', async () => {
    const tools = await world.use(remote(await serve(stateless())), { callMs: 500 })
    expect((await world.call(tools, 'hang')).text).toMatch(/timed out/i)
    expect((await world.call(tools, 'add', { a: 1, b: 1 })).text).toBe('2')
  })

  test('does not tell our secrets back', async () => {
    const say = async ({ headers }: Request) =>
      new Response(`who is ${headers.get('authorization')}?`, { status: 500 })
    const headers = { authorization: variable('NAMED') }
    const server = remote(await serve(say), { headers })
    const found = await inspectMcpServer(server, ['NAMED'], world.parts())
    expect(found).toMatchObject({ ok: false, reason: expect.stringMatching(/\[redacted\]/) })
    expect(JSON.stringify(found)).not.toContain('nv-81LmQ0zP')
  })
})

const jsonType = { headers: { 'content-type': 'application/json' } }
const eventType = { headers: { 'content-type': 'text/event-stream' } }

function endless(): ReadableStream<Uint8Array> {
  const chunk = Buffer.alloc(1_000_000, 'x')
  return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) })
}
