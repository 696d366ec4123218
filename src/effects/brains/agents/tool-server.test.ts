import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bridgeCommand, openToolServer, type ToolServer } from './tool-server.ts'

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

test('nobody connects after the time for it is over', async () => {
  expect(await server.join(AbortSignal.abort())).toBe(false)
  expect(await endOf(connect(socketPath))).toContain('ENOENT')
  expect(server.isJoined).toBe(false)
})
