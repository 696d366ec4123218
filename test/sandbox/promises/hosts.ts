import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { END_ALL, inSandbox, type Place, type Subject } from '../subject.ts'

/** Fetches targets by the proxy that the environment names, and prints the status of each. */
const FETCH = `
const { request } = require('node:http')
const proxy = new URL(process.env.http_proxy)
const options = { host: proxy.hostname, port: proxy.port, agent: false }
for (const target of process.argv.slice(1)) {
  const show = ({ statusCode }) => console.log(target, statusCode)
  if (target.startsWith('http:')) request({ ...options, path: target }, show).end()
  else request({ ...options, method: 'CONNECT', path: target })
    .on('connect', (answer, socket) => {
      if (answer.statusCode !== 200) return show(answer), socket.destroy()
      request({ createConnection: () => socket, path: '/' }, show).end()
    }).end()
}
`

/** What a level that closes the network promises of allowed hosts. */
export function describeHosts(subject: Subject): void {
  describe('allowed hosts', () => {
    let server: Server
    let port: number
    let requests = 0

    beforeAll(async () => {
      server = createServer((_, response) => {
        requests += 1
        response.end('hello')
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      port = (server.address() as { port: number }).port
    })
    afterAll(() => void server.close())

    const fetch = async ({ sandbox }: Place, targets: readonly string[]) => {
      const argv = ['node', '-e', FETCH, ...targets] as const
      const ended = await sandbox.run({ argv, timeoutMs: 10_000, outputBytesMax: 10_000 })
      return ended.output.toString().trim().split('\n').sort()
    }

    test('are reached when they are listed, and no other', () =>
      inSandbox(subject, { hosts: [`localhost:${port}`, '*.example.org'] }, async (place) => {
        const refused = ['127.0.0.1', '[::1]', '2130706433', 'example.org', 'example.com']
        const forms = (host: string) => [`http://${host}:${port}/`, `${host}:${port}`]
        const before = requests
        const statuses = await fetch(place, ['localhost', ...refused].flatMap(forms))
        const expected = [
          ...forms('localhost').map((target) => `${target} 200`),
          ...refused.flatMap(forms).map((target) => `${target} 403`),
        ]
        expect(statuses).toEqual(expected.sort())
        expect(requests - before).toBe(2)
      }))

    test('are reached by the proxy alone, whatever a command ends', () =>
      inSandbox(subject, { hosts: [`localhost:${port}`] }, async (place) => {
        const direct = `require('net').connect(${port}, '127.0.0.1').on('error', (e) => console.log(e.code))`
        const argv = ['node', '-e', direct] as const
        const ended = await place.sandbox.run({ argv, timeoutMs: 5_000, outputBytesMax: 1_000 })
        expect(ended.output.toString()).toContain('ECONNREFUSED')
        await place.sh(END_ALL)
        const target = `http://localhost:${port}/`
        expect(await fetch(place, [target])).toEqual([`${target} 200`])
      }))

    test('are no way to a port of this machine, unless that port is listed', async () => {
      const ask = (wanted: number) =>
        `fetch('http://127.0.0.1:${wanted}/').then((answer) => console.log(answer.status), (error) => console.log(error.cause.code))`
      await inSandbox(subject, { ports: [port] }, async ({ sandbox }) => {
        const look = async (wanted: number) => {
          const argv = ['node', '-e', ask(wanted)] as const
          const ended = await sandbox.run({ argv, timeoutMs: 10_000, outputBytesMax: 1_000 })
          return ended.output.toString().trim()
        }
        expect(await look(port)).toBe('200')
        expect(await look(port + 1)).toBe('ECONNREFUSED')
      })
    })

    describeLowPort(subject)

    test('that are no names are refused', async () => {
      for (const host of ['', '*', 'a b', 'http://example.org', '*.*.org', 'a/b']) {
        const opening = inSandbox(subject, { hosts: [host] }, async () => {})
        await expect(opening, host).rejects.toThrow('is not the name of a host')
      }
    })
  })
}

/** What it promises of ports that else only root may open. */
export function describeLowPort(subject: Subject): void {
  test("may be on a port that is root's elsewhere, and every other stays closed", () =>
    inSandbox(subject, { ports: [81] }, async ({ sandbox }) => {
      const look = async (port: number) => {
        const show =
          'on("connect", () => console.log("open")).on("error", ({ code }) => console.log(code))'
        const argv = ['node', '-e', `require('net').connect(${port}, '127.0.0.1').${show}`] as const
        const ended = await sandbox.run({ argv, timeoutMs: 10_000, outputBytesMax: 1_000 })
        return ended.output.toString().trim().split('\n')[0]
      }
      expect(await look(81)).toBe('open')
      expect(await look(82)).toBe('ECONNREFUSED')
    }))
}
