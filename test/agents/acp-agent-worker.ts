/** A small agent that speaks the Agent Client Protocol and plays what PLAY says, for the fine points. */
import { Readable, Writable } from 'node:stream'
import {
  type AgentContext,
  agent,
  type McpServerStdio,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { FailureKind } from '../../src/effects/brains/brain.ts'
import type { Play } from '../brains/conformance.ts'
import type { ReplyPart } from '../providers/answer.ts'
import { pieces } from '../providers/wire.ts'

const SESSION = 'session-1'
const play: Play = JSON.parse(process.env.PLAY ?? '{}')
const tools = new Client({ name: 'agent', version: '1.0.0' })
let cancel = () => {}
const cancelled = new Promise<void>((resolve) => {
  cancel = resolve
})

/** What providers' errors become when an agent passes them on. */
const WORDS: Readonly<Partial<Record<FailureKind, string>>> = {
  rate_limited: 'API Error: 429 too many requests',
  overloaded: 'API Error: 529 Overloaded',
  auth: 'API Error: 401 invalid x-api-key',
  quota: 'Your credit balance is too low to access the API',
  context_overflow: 'prompt is too long: 210000 tokens > 200000 maximum',
  rejected: 'API Error: 400 invalid_request_error',
}

agent({ name: 'worker' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: {},
  }))
  .onRequest(methods.agent.session.new, async ({ params }) => {
    const { command, args } = params.mcpServers[0] as McpServerStdio
    await tools.connect(new StdioClientTransport({ command, args }))
    return { sessionId: SESSION }
  })
  .onNotification(methods.agent.session.cancel, () => cancel())
  .onRequest(methods.agent.session.prompt, async ({ client }) => {
    if ('hangs' in play) return hang(client)
    if ('fails' in play) return fail(client, play.fails, play.retryAfterMs)
    return reply(client, play.reply)
  })
  .connect(
    ndJsonStream(
      Writable.toWeb(process.stdout),
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    ),
  )

type Reply = Extract<Play, { reply: unknown }>['reply']

async function reply(client: AgentContext, { parts, end, outputTokens = 1 }: Reply) {
  for (const part of parts) await say(client, part)
  const calls = parts.flatMap((part) => (part.type === 'call' ? [part] : []))
  for (const { name, input } of calls) {
    const params = { name, arguments: input as Record<string, unknown> }
    tools.callTool(params).catch(() => {})
  }
  if (calls.length > 0) await cancelled
  const inputTokens = 100
  const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }
  return { stopReason: end === 'length' ? ('max_tokens' as const) : ('end_turn' as const), usage }
}

async function say(client: AgentContext, part: ReplyPart) {
  if (part.type !== 'text' && part.type !== 'reasoning') return
  const sessionUpdate = part.type === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk'
  for (const text of pieces(part.text, 7)) {
    const update = { sessionUpdate, content: { type: 'text', text } } as const
    await client.notify(methods.client.session.update, { sessionId: SESSION, update })
  }
}

async function hang(client: AgentContext) {
  await say(client, { type: 'text', text: 'Half a' })
  await cancelled
  return { stopReason: 'cancelled' as const }
}

async function fail(client: AgentContext, kind: FailureKind, retryAfterMs?: number) {
  if (kind === 'timeout') await new Promise(() => {})
  if (kind === 'stalled') await hang(client)
  if (kind === 'network') process.exit(0)
  if (kind === 'refused') return { stopReason: 'refusal' as const }
  if (kind === 'invalid_output') return { stopReason: 'end_turn' as const }
  const wait = retryAfterMs === undefined ? '' : `. Please try again in ${retryAfterMs / 1_000}s`
  throw RequestError.internalError(undefined, `${WORDS[kind]}${wait}`)
}
