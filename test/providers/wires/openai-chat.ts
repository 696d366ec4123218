import type { Reply, ReplyEnd, ReplyPart } from '../answer.ts'
import { block, listIn, pieces, type ReplyFacts, sse, type Wire } from '../wire.ts'
import { openaiError } from './openai-errors.ts'

const FINISH_REASON: Readonly<Record<ReplyEnd, string>> = {
  stop: 'stop',
  length: 'length',
  refused: 'stop',
  filtered: 'content_filter',
  prompt_blocked: 'content_filter',
  context_full: 'length',
  malformed: 'stop',
}

const REFUSAL = "I'm sorry, but I can't help with that."

/** OpenAI's Chat Completions, which many servers speak. */
export const openaiChat: Wire = {
  name: 'openai-chat',
  contentType: 'text/event-stream; charset=utf-8',
  matches: (path) => path.endsWith('/chat/completions'),
  modelOf: (_, body) => String(body.model),
  isStreaming: (_, body) => body.stream === true,
  blocksOf: (body) => [
    ...listIn(body.tools).map((tool) => block('tool', tool)),
    ...listIn(body.messages).map((message) => block('message', message)),
  ],
  framesOf,
  bodyOf,
  errorOf: openaiError,
  errorFrame: sse({
    error: { message: 'Provider returned error', code: 502, type: 'server_error' },
  }),
  garbageFrame: 'data: {"id":"chatcmpl-1","choices":[{"delta":{"cont\n\n',
}

function framesOf(reply: Reply, facts: ReplyFacts): string[] {
  const chunk = (delta: object, finishReason: string | null = null) =>
    sse({
      ...envelopeOf(facts, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      usage: null,
    })
  const refusal = reply.end === 'refused' ? [chunk({ refusal: REFUSAL })] : []
  const options = facts.body.stream_options as { include_usage?: boolean } | undefined
  const usage = {
    ...envelopeOf(facts, 'chat.completion.chunk'),
    choices: [],
    usage: usageOf(facts),
  }
  return [
    chunk({ role: 'assistant', content: '', refusal: null }),
    ...deltasOf(reply, facts).map((delta) => chunk(delta)),
    ...refusal,
    chunk({}, finishReasonOf(reply)),
    ...(options?.include_usage === true ? [sse(usage)] : []),
    sse('[DONE]'),
  ]
}

function deltasOf({ parts, pieceChars }: Reply, { number }: ReplyFacts): object[] {
  let index = -1
  return parts.flatMap((part): object[] => {
    if (part.type === 'text') return pieces(part.text, pieceChars).map((content) => ({ content }))
    if (part.type === 'reasoning') {
      return pieces(part.text, pieceChars).map((piece) => ({ reasoning_content: piece }))
    }
    index += 1
    const at = index
    const id = (part.type === 'call' ? part.id : undefined) ?? `call_${number}_${at}`
    const start = { index: at, id, type: 'function', function: { name: part.name, arguments: '' } }
    return [
      { tool_calls: [start] },
      ...pieces(argumentsOf(part), pieceChars).map((piece) => ({
        tool_calls: [{ index: at, function: { arguments: piece } }],
      })),
    ]
  })
}

function bodyOf(reply: Reply, facts: ReplyFacts): object {
  const textOf = (type: 'text' | 'reasoning') =>
    reply.parts.map((part) => (part.type === type ? part.text : '')).join('')
  const calls = reply.parts.flatMap((part, index) =>
    part.type === 'call' || part.type === 'bad_call'
      ? [
          {
            id: (part.type === 'call' ? part.id : undefined) ?? `call_${facts.number}_${index}`,
            type: 'function',
            function: { name: part.name, arguments: argumentsOf(part) },
          },
        ]
      : [],
  )
  const message = {
    role: 'assistant',
    content: textOf('text'),
    refusal: reply.end === 'refused' ? REFUSAL : null,
    ...(textOf('reasoning') === '' ? {} : { reasoning_content: textOf('reasoning') }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  return {
    ...envelopeOf(facts, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(reply) }],
    usage: usageOf(facts),
  }
}

function argumentsOf(part: Extract<ReplyPart, { name: string }>): string {
  return part.type === 'bad_call' ? part.text : JSON.stringify(part.input)
}

function envelopeOf({ number, model }: ReplyFacts, object: string) {
  const id = `chatcmpl-${number}`
  return { id, object, created: 1_760_000_000, model, system_fingerprint: 'fp_1' }
}

function usageOf({ inputTokens, cachedTokens, outputTokens }: ReplyFacts) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  }
}

function finishReasonOf({ parts, end }: Reply): string {
  const isCalling = parts.some(({ type }) => type === 'call' || type === 'bad_call')
  return end === undefined && isCalling ? 'tool_calls' : FINISH_REASON[end ?? 'stop']
}
