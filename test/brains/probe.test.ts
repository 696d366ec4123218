import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { probeProvider } from '../../src/effects/brains/provider-probe.ts'
import { startProviderServer } from '../providers/server.ts'
import { API_KEY, API_SUBJECTS } from './api-subjects.ts'

let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
})

const patience = () => AbortSignal.timeout(5_000)

/** A server that answers everything with one status, and remembers what it was asked with. */
async function answering(status: number): Promise<{ url: string; headers: object[] }> {
  const headers: object[] = []
  const started = createServer((request, response) => {
    headers.push(request.headers)
    response.writeHead(status, status === 302 ? { location: 'http://127.0.0.1:1/' } : {}).end('{}')
  })
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(started.address() as AddressInfo).port}`, headers }
}

describe.each(API_SUBJECTS)('$provider', ({ optionsFor }) => {
  test('is well when it lists its models', async () => {
    const provider = await startProviderServer()
    expect(await probeProvider(optionsFor(provider.url), patience())).toBe(true)
    await provider.close()
    expect(await probeProvider(optionsFor(provider.url), patience())).toBe(false)
  })

  test('is asked with its key', async () => {
    const { url, headers } = await answering(200)
    await probeProvider(optionsFor(url), patience())
    expect(JSON.stringify(headers)).toContain(API_KEY)
  })
})

test.each([
  [200, true],
  [404, true],
  [302, false],
  [401, false],
  [403, false],
  [429, false],
  [500, false],
  [529, false],
])('%d means %s', async (status, isWell) => {
  const { url } = await answering(status)
  const [subject] = API_SUBJECTS
  if (subject === undefined) throw new Error('no subject')
  expect(await probeProvider(subject.optionsFor(url), patience())).toBe(isWell)
})

test('a server that is silent is not well', async () => {
  const silent = createServer(() => {})
  server = silent
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const [subject] = API_SUBJECTS
  if (subject === undefined) throw new Error('no subject')
  expect(await probeProvider(subject.optionsFor(url), AbortSignal.timeout(100))).toBe(false)
})
