import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  ANNOUNCING_MS_MAX,
  bridgeCommand,
  MESSAGES_MAX,
  openToolServer,
  type ToolServer,
} from './tool-server.ts'

const TOOLS = [{ name: 'done', description: 'Ends the state.', input: { type: 'object' } }]

let folder: string
let socketPath: string
let server: ToolServer

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-tools-'))
  socketPath = join(folder, 'tools.sock')
  server = await openToolServer({ socketPath, tools: TOOLS, idPrefix: 'call_' })
})

afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

const never = new AbortController().signal

async function startClient(): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1.0.0' })
  const { command, args } = bridgeCommand(process.execPath, socketPath)
  await client.connect(new StdioClientTransport({ command, args: [...args] }))
  return client
}

/** How a connection ends on which nothing is said. */
function endOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.on('error', ({ message }) => resolve(message))
    socket.on('close', () => resolve('closed'))
  })
}

test('the first client is the only one, and can go on calling', async () => {
  const client = await startClient()
  expect(server.isJoined).toBe(true)
  expect(await readdir(folder)).toEqual([])
  expect(await endOf(connect(socketPath))).toContain('ENOENT')
  client.callTool({ name: 'done', arguments: {} }).catch(() => {})
  expect(await server.called).toEqual([{ id: 'call_1', name: 'done', input: {} }])
  await client.close()
})

test('of those that connect at once, one is served', async () => {
  const sockets = [1, 2, 3].map(() => connect(socketPath))
  const ends = sockets.map(endOf)
  expect(await server.join(never)).toBe(true)
  const left = new Set(sockets)
  for (const [i, end] of ends.entries()) void end.then(() => left.delete(sockets[i] as Socket))
  await expect.poll(() => left.size).toBe(1)
  for (const socket of left) socket.destroy()
  expect(await readdir(folder)).toEqual([])
})

test('whoever goes is not followed by another', async () => {
  const client = await startClient()
  await client.close()
  expect(await endOf(connect(socketPath))).toContain('ENOENT')
})

test('who is waited for comes in time, and nobody after that', async () => {
  const joined = server.join(never)
  const client = await startClient()
  expect(await joined).toBe(true)
  await client.close()
  expect(await server.join(AbortSignal.abort())).toBe(true)
})

test('a call that the agent has to announce counts once it has, and no other does', async () => {
  await server.close()
  server = await openToolServer({ socketPath, tools: TOOLS, idPrefix: 'call_', areAnnounced: true })
  const client = await startClient()
  for (const summary of ['forged', 'first', 'second']) {
    client.callTool({ name: 'done', arguments: { summary } }).catch(() => {})
    if (summary === 'forged') server.announce('done', { summary: 'second' })
  }
  await server.begun
  server.announce('other', { summary: 'forged' })
  server.announce('done', { summary: 'first' })
  const inputs = (await server.called).map(({ input }) => input)
  expect(inputs).toEqual([{ summary: 'second' }, { summary: 'first' }])
  await client.close()
})

test('a call that nobody announces is told so after a while, and none that counts', async () => {
  await server.close()
  server = await openToolServer({ socketPath, tools: TOOLS, idPrefix: 'call_', areAnnounced: true })
  const client = await startClient()
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  try {
    const answers: unknown[] = []
    for (const summary of ['forged', 'announced']) {
      const call = client.callTool({ name: 'done', arguments: { summary } }, { timeout: 3_600_000 })
      call.then((answer) => answers.push([summary, answer])).catch(() => {})
    }
    // Both have come when one of them is heard.
    server.announce('done', { summary: 'announced' })
    await server.begun
    await vi.advanceTimersByTimeAsync(ANNOUNCING_MS_MAX - 1)
    expect(answers).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await vi.waitUntil(() => answers.length > 0)
    await vi.advanceTimersByTimeAsync(ANNOUNCING_MS_MAX)
    expect(answers).toMatchObject([['forged', { isError: true }]])
  } finally {
    vi.useRealTimers()
  }
  await client.close()
})

/** Says a message so many times to our tools, and reads what is answered or not. */
async function flood(message: object, count: number, isReading: boolean): Promise<Socket> {
  const socket = connect(socketPath)
  socket.on('error', () => {})
  if (isReading) socket.resume()
  const line = `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
  for (let i = 0; i < count && !socket.destroyed; i += 1) {
    if (socket.write(line)) continue
    await Promise.race(
      [once(socket, 'drain'), once(socket, 'close')].map((one) => one.catch(() => {})),
    )
  }
  return socket
}

test('as many messages as there may be are heard, and one more is the end', async () => {
  const what = vi.fn()
  void server.flooded.then(what)
  const socket = await flood({ method: 'notifications/nothing' }, MESSAGES_MAX - 1, true)
  const ping = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`
  socket.write(ping)
  await once(socket, 'data')
  expect(what).not.toHaveBeenCalled()
  socket.write(ping)
  await once(socket, 'close')
  expect(what).toHaveBeenCalledWith(`sent our tools more than ${MESSAGES_MAX} messages`)
})

test.each([
  ['answers that are not read', { id: 'x'.repeat(100_000), method: 'ping' }, false],
  [
    'very much that is said',
    { method: 'notifications/nothing', params: { x: 'x'.repeat(1e6) } },
    true,
  ],
])('%s are the end too', async (_, message, isReading) => {
  await flood(message, 1_000, isReading)
  expect(await server.flooded).toMatch(/does not read|more than 67108864 bytes/)
})

test('nobody connects after the time for it is over', async () => {
  expect(await server.join(AbortSignal.abort())).toBe(false)
  expect(await endOf(connect(socketPath))).toContain('ENOENT')
  expect(server.isJoined).toBe(false)
})
