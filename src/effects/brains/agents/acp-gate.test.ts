import { PassThrough, Readable } from 'node:stream'
import type { AnyMessage } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { openGate } from './acp-gate.ts'

/** A gate before an agent that prints these lines, and what came of them. */
async function pass(lines: readonly unknown[], asked: readonly unknown[] = []) {
  const input = new PassThrough()
  const output = new PassThrough()
  const told = { messages: 0, floods: 0 }
  const process = { input, output: Readable.toWeb(output), ended: new Promise<never>(() => {}) }
  const { readable, writable } = openGate(process, {
    onMessage: () => (told.messages += 1),
    onFlood: () => (told.floods += 1),
  })
  const writer = writable.getWriter()
  for (const message of asked) await writer.write(message as AnyMessage)
  for (const line of lines) output.write(`${JSON.stringify(line)}\n`)
  output.end()
  const passed: unknown[] = []
  for await (const message of readable as unknown as AsyncIterable<unknown>) passed.push(message)
  return { passed, told, input, writer }
}

const REQUEST = { jsonrpc: '2.0', id: 0, method: 'initialize', params: {} }
const ANSWER = { jsonrpc: '2.0', id: 0, result: {} }
const UPDATE = { sessionUpdate: 'tool_call_update', toolCallId: 'a' }
const LONG = 'x'.repeat(1_001)

test('an answer passes once, and one to what nobody asked does not', async () => {
  const strange = { ...ANSWER, id: 'sk-a-key-of-the-agent' }
  const { passed, told } = await pass([strange, ANSWER, ANSWER, { ...ANSWER, id: '0' }], [REQUEST])
  expect(passed).toEqual([ANSWER])
  expect(told).toEqual({ messages: 4, floods: 0 })
})

test('what we only tell, or answer, is no question to be answered', async () => {
  const { passed } = await pass([ANSWER], [{ jsonrpc: '2.0', method: 'session/cancel' }, ANSWER])
  expect(passed).toEqual([])
})

test.each([
  { jsonrpc: '2.0', id: 'a', method: 'fs/read_text_file', params: {} },
  { jsonrpc: '2.0', id: null, method: 'fs/read_text_file' },
  { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update: UPDATE } },
  { jsonrpc: '2.0', id: 1, method: 'session/update', params: {} },
  { jsonrpc: '2.0', method: 'elicitation/complete', params: {} },
])('a request and a notification pass: %j', async (message) => {
  expect((await pass([message])).passed).toEqual([message])
})

test.each([
  {},
  { jsonrpc: '2.0', result: {} },
  { jsonrpc: '2.0', id: 1, method: 7 },
  { jsonrpc: '2.0', id: { a: 1 }, method: 'a' },
  { jsonrpc: '2.0', id: LONG, method: 'a' },
  { jsonrpc: '2.0', id: 1, method: LONG },
  { jsonrpc: '2.0', method: 'session/update', params: {} },
])('what the library would print or send back does not pass, and counts: %#', async (message) => {
  const { passed, told } = await pass([message])
  expect(passed).toEqual([])
  expect(told.messages).toBe(1)
})

test('an agent that reads nothing is told of, and nothing more waits for it', async () => {
  const { input, told, writer } = await pass([])
  const message = { ...REQUEST, params: { text: 'x'.repeat(9 * 1024 * 1024) } } as AnyMessage
  // One message may be as long as it likes.
  await writer.write(message)
  expect(told.floods).toBe(0)
  const waiting = input.writableLength + input.readableLength
  await writer.write(message)
  expect(told.floods).toBe(1)
  expect(input.writableLength + input.readableLength).toBe(waiting)
})
