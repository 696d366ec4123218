import type { Reply, ReplyPart, ServerError } from '../answer.ts'
import { block, type HttpAnswer, listIn, pieces, type ReplyFacts, type Wire } from '../wire.ts'

const CREATED_AT = '2026-11-02T10:00:00.000000Z'

/** Ollama's chat. */
export const ollama: Wire = {
  name: 'ollama',
  contentType: 'application/x-ndjson',
  matches: (path) => path === '/api/chat',
  modelOf: (_, body) => String(body.model),
  isStreaming: (_, body) => body.stream !== false,
  blocksOf: (body) => [
    ...listIn(body.tools).map((tool) => block('tool', tool)),
    ...listIn(body.messages).map((message) => block('message', message)),
  ],
  framesOf: (reply, facts) => [
    ...reply.parts
      .flatMap((part) => messagesOf(part, reply.pieceChars))
      .map((message) => line({ ...envelopeOf(facts), message, done: false })),
    line({
      ...envelopeOf(facts),
      message: { role: 'assistant', content: '' },
      ...endOf(reply, facts),
    }),
  ],
  bodyOf: (reply, facts) => {
    const messages = reply.parts.flatMap((part) => messagesOf(part, Infinity))
    return { ...envelopeOf(facts), message: joined(messages), ...endOf(reply, facts) }
  },
  errorOf,
  errorFrame: line({ error: 'an error was encountered while running the model: CUDA error' }),
  garbageFrame: '{"model":"m","message":{"role":"assis\n',
}

interface OllamaMessage {
  readonly role: string
  readonly content: string
  readonly thinking?: string
  readonly tool_calls?: readonly object[]
}

function joined(messages: readonly OllamaMessage[]): OllamaMessage {
  const thinking = messages.map((message) => message.thinking ?? '').join('')
  const calls = messages.flatMap((message) => message.tool_calls ?? [])
  return {
    role: 'assistant',
    content: messages.map(({ content }) => content).join(''),
    ...(thinking === '' ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

/** Calls come whole. One that is no JSON is a text where an object should be. */
function messagesOf(part: ReplyPart, pieceChars?: number): OllamaMessage[] {
  const role = 'assistant'
  if (part.type === 'text') {
    return pieces(part.text, pieceChars).map((content) => ({ role, content }))
  }
  if (part.type === 'reasoning') {
    return pieces(part.text, pieceChars).map((thinking) => ({ role, content: '', thinking }))
  }
  const id = part.type === 'call' && part.id !== undefined ? { id: part.id } : {}
  const given = part.type === 'bad_call' ? part.text : part.input
  const called = { ...id, function: { name: part.name, arguments: given } }
  return [{ role, content: '', tool_calls: [called] }]
}

function endOf({ end }: Reply, { inputTokens, outputTokens }: ReplyFacts): object {
  return {
    done_reason: end === 'length' || end === 'context_full' ? 'length' : 'stop',
    done: true,
    total_duration: 5_000_000,
    load_duration: 1_000_000,
    prompt_eval_count: inputTokens,
    prompt_eval_duration: 2_000_000,
    eval_count: outputTokens,
    eval_duration: 2_000_000,
  }
}

function envelopeOf({ model }: ReplyFacts) {
  return { model, created_at: CREATED_AT }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}

const ERRORS: Readonly<Record<ServerError, readonly [number, string]>> = {
  rate_limited: [429, 'too many requests'],
  overloaded: [503, 'server busy, please try again.  maximum pending requests exceeded'],
  unavailable: [503, 'Service Unavailable'],
  server_error: [500, 'llama runner process has terminated: signal: killed'],
  unauthorized: [401, 'unauthorized'],
  forbidden: [403, 'this model requires a subscription, upgrade for access'],
  no_credit: [402, 'you have reached your weekly usage limit'],
  context_overflow: [400, 'the input length exceeds the context length'],
  unknown_model: [404, "model 'MODEL' not found"],
  bad_request: [400, 'registry.ollama.ai/library/MODEL does not support tools'],
}

function errorOf(error: ServerError, model: string): HttpAnswer {
  const [status, message] = ERRORS[error]
  return { status, body: { error: message.replace('MODEL', model) } }
}
