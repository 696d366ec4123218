import type { Reply, ReplyEnd, ReplyPart, ServerError } from '../answer.ts'
import {
  block,
  type HttpAnswer,
  listIn,
  type PromptBlock,
  pieces,
  type ReplyFacts,
  sse,
  type Wire,
} from '../wire.ts'

const STOP_REASON: Readonly<Record<ReplyEnd, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  refused: 'refusal',
  filtered: 'refusal',
  prompt_blocked: 'refusal',
  context_full: 'model_context_window_exceeded',
  malformed: 'end_turn',
}

/** Anthropic's Messages. */
export const anthropic: Wire = {
  name: 'anthropic',
  contentType: 'text/event-stream; charset=utf-8',
  matches: (path) => path.endsWith('/messages'),
  modelOf: (_, body) => String(body.model),
  isStreaming: (_, body) => body.stream === true,
  blocksOf,
  framesOf,
  bodyOf: (reply, facts) => ({
    ...messageOf(facts),
    content: reply.parts.map((part, index) => contentOf(part, facts, index)),
    stop_reason: stopReasonOf(reply),
    usage: { ...usageOf(facts), output_tokens: facts.outputTokens },
  }),
  errorOf,
  errorFrame: event('error', {
    type: 'error',
    error: { details: null, type: 'overloaded_error', message: 'Overloaded' },
  }),
  garbageFrame: 'event: content_block_delta\ndata: {"type":"content_block_delta","ind\n\n',
}

function blocksOf(body: Readonly<Record<string, unknown>>): PromptBlock[] {
  const system = typeof body.system === 'string' ? [body.system] : listIn(body.system)
  const messages = listIn(body.messages).flatMap(({ role, content }) => {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : listIn(content)
    return parts.map((part) => block(String(role), part))
  })
  return [
    ...listIn(body.tools).map((tool) => block('tool', tool)),
    ...system.map((part) => block('system', part)),
    ...messages,
  ]
}

function framesOf(reply: Reply, facts: ReplyFacts): string[] {
  const message = { ...messageOf(facts), content: [], stop_reason: null }
  const start = { ...message, usage: { ...usageOf(facts), output_tokens: 1 } }
  const delta = { stop_reason: stopReasonOf(reply), stop_sequence: null }
  return [
    event('message_start', { type: 'message_start', message: start }),
    event('ping', { type: 'ping' }),
    ...reply.parts.flatMap((part, index) => partFrames(part, facts, index, reply.pieceChars)),
    event('message_delta', {
      type: 'message_delta',
      delta,
      usage: { ...usageOf(facts), output_tokens: facts.outputTokens },
    }),
    event('message_stop', { type: 'message_stop' }),
  ]
}

function partFrames(part: ReplyPart, facts: ReplyFacts, index: number, pieceChars?: number) {
  const delta = (value: object) =>
    event('content_block_delta', { type: 'content_block_delta', index, delta: value })
  return [
    event('content_block_start', {
      type: 'content_block_start',
      index,
      content_block: emptyOf(part, callId(part, facts, index)),
    }),
    ...deltasOf(part, facts, index, pieceChars).map(delta),
    event('content_block_stop', { type: 'content_block_stop', index }),
  ]
}

function deltasOf(part: ReplyPart, facts: ReplyFacts, index: number, pieceChars?: number) {
  if (part.type === 'text') {
    return pieces(part.text, pieceChars).map((text) => ({ type: 'text_delta', text }))
  }
  if (part.type === 'reasoning') {
    const thinking = pieces(part.text, pieceChars)
    return [
      ...thinking.map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature: signatureOf(facts, index) },
    ]
  }
  const json = part.type === 'bad_call' ? part.text : JSON.stringify(part.input)
  return ['', ...pieces(json, pieceChars)].map((partial) => ({
    type: 'input_json_delta',
    partial_json: partial,
  }))
}

function emptyOf(part: ReplyPart, id: string): object {
  if (part.type === 'text') return { type: 'text', text: '' }
  if (part.type === 'reasoning') return { type: 'thinking', thinking: '', signature: '' }
  return { type: 'tool_use', id, name: part.name, input: {} }
}

function contentOf(part: ReplyPart, facts: ReplyFacts, index: number): object {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.type === 'reasoning') {
    return { type: 'thinking', thinking: part.text, signature: signatureOf(facts, index) }
  }
  const id = callId(part, facts, index)
  const input = part.type === 'bad_call' ? {} : part.input
  return { type: 'tool_use', id, name: part.name, input }
}

function messageOf({ number, model }: ReplyFacts) {
  const id = `msg_${String(number).padStart(8, '0')}`
  return { id, type: 'message', role: 'assistant', model, stop_sequence: null }
}

function signatureOf({ number }: ReplyFacts, index: number): string {
  return Buffer.from(`signed by the provider ${number}.${index}`).toString('base64')
}

/** The input tokens are those that no cache was involved with. */
function usageOf({ inputTokens, cachedTokens, cacheWriteTokens }: ReplyFacts) {
  return {
    input_tokens: inputTokens - cachedTokens - cacheWriteTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    service_tier: 'standard',
  }
}

function stopReasonOf({ parts, end }: Reply): string {
  const isCalling = parts.some(({ type }) => type === 'call' || type === 'bad_call')
  return end === undefined && isCalling ? 'tool_use' : STOP_REASON[end ?? 'stop']
}

function callId(part: ReplyPart, { number }: ReplyFacts, index: number): string {
  return (part.type === 'call' ? part.id : undefined) ?? `toolu_${number}_${index}`
}

function event(name: string, data: unknown): string {
  return sse(data, name)
}

const ERRORS: Readonly<Record<ServerError, readonly [number, string, string]>> = {
  rate_limited: [
    429,
    'rate_limit_error',
    "This request would exceed your organization's rate limit of 30,000 input tokens per minute. Please reduce the prompt length or the maximum tokens requested, or try again later.",
  ],
  overloaded: [529, 'overloaded_error', 'Overloaded'],
  unavailable: [503, 'api_error', 'Service unavailable'],
  server_error: [500, 'api_error', 'Internal server error'],
  unauthorized: [401, 'authentication_error', 'invalid x-api-key'],
  forbidden: [403, 'permission_error', 'Your API key does not have permission to use this model.'],
  no_credit: [
    400,
    'invalid_request_error',
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
  ],
  context_overflow: [
    400,
    'invalid_request_error',
    'prompt is too long: 210042 tokens > 200000 maximum',
  ],
  unknown_model: [404, 'not_found_error', 'model: MODEL'],
  bad_request: [
    400,
    'invalid_request_error',
    'messages.1.content.0.tool_result.content: Input should be a valid list',
  ],
}

function errorOf(error: ServerError, model: string): HttpAnswer {
  const [status, type, message] = ERRORS[error]
  const body = {
    type: 'error',
    error: { type, message: message.replace('MODEL', model) },
    request_id: 'req_011CbrFTcXhtiMzr3s6EocF7',
  }
  return { status, headers: { 'request-id': 'req_011CbrFTcXhtiMzr3s6EocF7' }, body }
}
