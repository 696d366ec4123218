import { lookup } from 'node:dns/promises'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type EgressProxy, openEgressProxy } from './egress-proxy.ts'

let folder: string
let server: Server
let port: number
let proxy: EgressProxy
const socketPath = () => join(folder, 'proxy.sock')

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-proxy-'))
  server = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk) => chunks.push(chunk))
    message.on('end', () => {
      response.setHeader('x-method', message.method ?? '')
      response.setHeader('x-connection-headers', String(message.headers['proxy-authorization']))
      response.end(`${message.url} ${message.headers.host} ${Buffer.concat(chunks).length}`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as { port: number }).port
  const names = ['localhost', 'exact.test', '*.below.test']
  const hosts = ['localhost:1', ...names.map((name) => `${name}:${port}`), 'web.test']
  // Names below test are looked up here: all of them are this machine.
  proxy = await openEgressProxy(socketPath(), hosts, async (host) =>
    host.endsWith('.test') ? [{ address: '127.0.0.1', family: 4 }] : lookup(host, { all: true }),
  )
})

afterEach(async () => {
  await proxy.close()
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
})

/** Opens the proxy anew, so that it leads to another server too. */
async function allow(further: number): Promise<void> {
  await proxy.close()
  const hosts = [port, further].map((each) => `localhost:${each}`)
  proxy = await openEgressProxy(socketPath(), hosts)
}

/** Sends bytes to the proxy, and gathers the head of what comes back. */
function send(text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(socketPath(), () => socket.write(text))
    socket.on('data', (chunk) => {
      answer += chunk
      if (answer.includes('\r\n\r\n')) socket.destroy()
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', () => {})
  })
}

describe('the proxy', () => {
  test('forwards a request with its body, and no headers that are meant for it alone', async () => {
    const headers = { 'proxy-authorization': 'secret', 'content-length': '5000000' }
    const path = `http://localhost:${port}/a?b=c`
    const answer = await new Promise<string>((resolve, reject) => {
      const options = { socketPath: socketPath(), method: 'POST', path, headers }
      const post = request(options, (response) => {
        let text = `${response.statusCode} ${response.headers['x-connection-headers']} `
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve(text))
      })
      post.on('error', reject)
      post.end(Buffer.alloc(5_000_000))
    })
    expect(answer).toBe(`200 undefined /a?b=c localhost:${port} 5000000`)
  })

  test('opens a tunnel, through which bytes pass both ways to the end', async () => {
    const echo = createTcpServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket))
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
    const echoPort = (echo.address() as { port: number }).port
    await allow(echoPort)
    const body = 'x'.repeat(3_000_000)
    const answer = await new Promise<string>((resolve) => {
      const line = { socketPath: socketPath(), method: 'CONNECT', path: `localhost:${echoPort}` }
      request(line)
        .on('connect', (_, socket) => {
          let text = ''
          socket.on('data', (chunk) => {
            text += chunk
          })
          socket.on('end', () => resolve(text))
          socket.end(body)
        })
        .end()
    })
    expect(answer.length).toBe(body.length)
    echo.close()
  })

  test.each([
    ['CONNECT 127.0.0.1:PORT HTTP/1.1', 403],
    ['CONNECT [::1]:PORT HTTP/1.1', 403],
    ['CONNECT evil.test:PORT HTTP/1.1', 403],
    ['CONNECT exact.test:PORT HTTP/1.1', 200],
    ['CONNECT some.below.test:PORT HTTP/1.1', 403],
    ['CONNECT localhost@evil.test:PORT HTTP/1.1', 403],
    ['CONNECT 0x7f000001:PORT HTTP/1.1', 403],
    ['GET http://exact.test:PORT/ HTTP/1.1', 200],
    ['GET http://some.below.test:PORT/ HTTP/1.1', 403],
    ['GET http://127.0.0.1:PORT/ HTTP/1.1', 403],
    ['GET http://0177.0.0.1:PORT/ HTTP/1.1', 403],
    ['GET http://localhost@127.0.0.1:PORT/ HTTP/1.1', 403],
    ['GET ftp://localhost:PORT/ HTTP/1.1', 403],
    ['GET /only-a-path HTTP/1.1', 400],
    ['CONNECT exact.test:22 HTTP/1.1', 403],
    ['CONNECT exact.test:443 HTTP/1.1', 403],
    ['CONNECT web.test:PORT HTTP/1.1', 403],
    ['GET http://web.test:PORT/ HTTP/1.1', 403],
    ['CONNECT localhost:1 HTTP/1.1', 502],
    ['GET http://localhost:1/ HTTP/1.1', 502],
  ])('answers %s with %d', async (line, status) => {
    const target = line.replace('PORT', String(port))
    const host = 'Host: localhost\r\nConnection: close\r\n\r\n'
    expect(await send(`${target}\r\n${host}`)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  test.each([
    ['050 odd', ''],
    ['000 odd', ''],
    ['099 odd', ''],
    ['101 Switching Protocols', 'Connection: upgrade\r\nUpgrade: x\r\n'],
    ['101 Switching Protocols', ''],
    ['nonsense', ''],
  ])('answers 502 where a host says %j with %j, and lives on', async (status, headers) => {
    const odd = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n`))
    })
    await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve))
    const oddPort = (odd.address() as { port: number }).port
    await allow(oddPort)
    const get = (at: number) =>
      send(`GET http://localhost:${at}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(await get(oddPort)).toMatch(/^HTTP\/1.1 502 /)
    expect(await get(port)).toMatch(/^HTTP\/1.1 200 /)
    odd.close()
  })

  test('survives what is no HTTP, and who leaves in between', async () => {
    expect(await send('\x16\x03\x01\0nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /)
    const leaving = connect(socketPath(), () => {
      leaving.write(`CONNECT localhost:${port} HTTP/1.1\r\nHost: x\r\n\r\n`)
      leaving.destroy()
    })
    await new Promise((resolve) => leaving.on('close', resolve))
    expect(await send('GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain(' 400 ')
  })

  test('ends its connections when it is closed', async () => {
    const answer = new Promise<string>((resolve) => {
      request({ socketPath: socketPath(), method: 'CONNECT', path: `localhost:${port}` })
        .on('connect', (_, socket) => {
          socket.on('close', () => resolve('closed'))
          socket.on('error', () => {})
          void proxy.close()
        })
        .end()
    })
    expect(await answer).toBe('closed')
  })
})
