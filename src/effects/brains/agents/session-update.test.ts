import { type AnyMessage, client, methods } from '@agentclientprotocol/sdk'
import { expect, test, vi } from 'vitest'
import { isSessionUpdate } from './session-update.ts'

const said = (update: unknown) => ({ sessionId: 's', update })
const TEXT = { type: 'text', text: 'Hm.' }
const STEP = { toolCallId: 'a', title: 'Edit' }

/** Whether the library hears of an update, and whether it prints something. */
async function hear(params: unknown) {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {})
  const heard = vi.fn()
  const { readable, writable } = new TransformStream<AnyMessage, AnyMessage>()
  const connection = client()
    .onNotification(methods.client.session.update, heard)
    .connect({ readable, writable: new WritableStream() })
  const writer = writable.getWriter()
  await writer.write({ jsonrpc: '2.0', method: 'session/update', params } as AnyMessage)
  await writer.close()
  await connection.closed
  const result = { isHeard: heard.mock.calls.length === 1, isPrinted: print.mock.calls.length > 0 }
  print.mockRestore()
  return result
}

test.each([
  { sessionUpdate: 'agent_message_chunk', content: TEXT, messageId: 7 },
  { sessionUpdate: 'agent_thought_chunk', content: { ...TEXT, annotations: 7 }, _meta: 7 },
  { sessionUpdate: 'tool_call', ...STEP },
  { sessionUpdate: 'tool_call', ...STEP, kind: 7, status: {}, content: 7, locations: [7] },
  { sessionUpdate: 'tool_call_update', toolCallId: 'a', title: 7, rawInput: null },
  { sessionUpdate: 'usage_update', used: 0, size: 200_000, cost: 7 },
  { sessionUpdate: 'notice', severity: 'new', title: 'Hm.', description: 7 },
])('what the library takes passes, and it prints nothing of it: %j', async (update) => {
  expect(isSessionUpdate(said(update))).toBe(true)
  expect(await hear(said(update))).toEqual({ isHeard: true, isPrinted: false })
})

test.each([
  undefined,
  null,
  { update: { sessionUpdate: 'agent_message_chunk', content: TEXT } },
  said(null),
  said({ sessionUpdate: 7 }),
  said({ sessionUpdate: 'of_a_later_version' }),
  said({ sessionUpdate: 'agent_message_chunk', content: null }),
  said({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 7 } }),
  said({ sessionUpdate: 'tool_call', toolCallId: {}, title: 'Edit' }),
  said({ sessionUpdate: 'tool_call', toolCallId: 'a' }),
  said({ sessionUpdate: 'tool_call_update' }),
  said({ sessionUpdate: 'usage_update', used: -1, size: 1 }),
  said({ sessionUpdate: 'usage_update', used: 1.5, size: 1 }),
  said({ sessionUpdate: 'usage_update', used: 1 }),
  said({ sessionUpdate: 'notice', severity: 'error', title: '' }),
])('what the library would print does not pass: %j', async (params) => {
  expect(isSessionUpdate(params)).toBe(false)
  expect(await hear(params)).toEqual({ isHeard: false, isPrinted: true })
})

test('what nobody listens to does not pass', () => {
  expect(isSessionUpdate(said({ sessionUpdate: 'plan', entries: [] }))).toBe(false)
  const content = { type: 'image', data: '', mimeType: 'image/png' }
  expect(isSessionUpdate(said({ sessionUpdate: 'agent_message_chunk', content }))).toBe(false)
})
