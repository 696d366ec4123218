import type { Reply, ReplyEnd, ReplyPart, ServerError } from '../answer.ts'
import { block, type HttpAnswer, listIn, pieces, type ReplyFacts, sse, type Wire } from '../wire.ts'

const FINISH_REASON: Readonly<Record<ReplyEnd, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  refused: 'SAFETY',
  filtered: 'PROHIBITED_CONTENT',
  prompt_blocked: 'SAFETY',
  context_full: 'MAX_TOKENS',
  malformed: 'MALFORMED_FUNCTION_CALL',
}

const ACTION = /\/models\/(?<model>[^/:]+):(?<action>generateContent|streamGenerateContent)$/

/** Gemini's generateContent and streamGenerateContent. */
export const gemini: Wire = {
  name: 'gemini',
  contentType: 'text/event-stream',
  matches: (path) => ACTION.test(path),
  modelOf: (path) => decodeURIComponent(ACTION.exec(path)?.groups?.model ?? ''),
  isStreaming: (path) => path.endsWith(':streamGenerateContent'),
  blocksOf: (body) => [
    ...(body.systemInstruction ? [block('system', body.systemInstruction)] : []),
    ...listIn(body.tools).map((tool) => block('tool', tool)),
    ...listIn(body.contents).flatMap(({ role, parts }) =>
      listIn(parts).map((part) => block(String(role), part)),
    ),
  ],
  framesOf: (reply, facts) => chunksOf(reply, facts).map((chunk) => sse(chunk)),
  bodyOf,
  errorOf,
  errorFrame: sse({
    error: {
      code: 503,
      message: 'The model is overloaded. Please try again later.',
      status: 'UNAVAILABLE',
    },
  }),
  garbageFrame: 'data: {"candidates":[{"content":{"parts":[{"te\n\n',
}

function chunksOf(reply: Reply, facts: ReplyFacts): object[] {
  if (reply.end === 'prompt_blocked') return [blockedOf(facts)]
  const deltas = reply.parts.flatMap((part, index) =>
    deltasOf(part, facts, index, reply.pieceChars),
  )
  const parts = deltas.length === 0 ? [{ text: '' }] : deltas
  return parts.map((part, index) => {
    const isLast = index === parts.length - 1
    const end = isLast ? { finishReason: FINISH_REASON[reply.end ?? 'stop'] } : {}
    const content = { parts: [part], role: 'model' }
    return { candidates: [{ content, ...end, index: 0 }], ...envelopeOf(facts, isLast) }
  })
}

function bodyOf(reply: Reply, facts: ReplyFacts): object {
  if (reply.end === 'prompt_blocked') return blockedOf(facts)
  const parts = reply.parts.flatMap((part, index) => deltasOf(part, facts, index, Infinity))
  const content = { parts, role: 'model' }
  const finishReason = FINISH_REASON[reply.end ?? 'stop']
  return { candidates: [{ content, finishReason, index: 0 }], ...envelopeOf(facts, true) }
}

/** Calls come whole, with a signature that has to come back. */
function deltasOf(
  part: ReplyPart,
  { number }: ReplyFacts,
  index: number,
  pieceChars?: number,
): object[] {
  if (part.type === 'text') return pieces(part.text, pieceChars).map((text) => ({ text }))
  if (part.type === 'reasoning') {
    return pieces(part.text, pieceChars).map((text) => ({ text, thought: true }))
  }
  const args = part.type === 'bad_call' ? part.text : part.input
  const id = part.type === 'call' && part.id !== undefined ? { id: part.id } : {}
  const thoughtSignature = Buffer.from(`signed by the provider ${number}.${index}`).toString(
    'base64',
  )
  return [{ functionCall: { ...id, name: part.name, args }, thoughtSignature }]
}

function blockedOf(facts: ReplyFacts): object {
  const promptFeedback = { blockReason: 'SAFETY', safetyRatings: [] }
  return { promptFeedback, ...envelopeOf(facts, true) }
}

function envelopeOf(facts: ReplyFacts, isLast: boolean) {
  const { number, model, inputTokens, cachedTokens, outputTokens } = facts
  const candidates = isLast ? { candidatesTokenCount: outputTokens } : {}
  return {
    usageMetadata: {
      promptTokenCount: inputTokens,
      ...candidates,
      totalTokenCount: inputTokens + (isLast ? outputTokens : 0),
      // Protocol buffers leave zeros out.
      ...(cachedTokens === 0 ? {} : { cachedContentTokenCount: cachedTokens }),
    },
    modelVersion: model,
    responseId: `resp-${number}`,
  }
}

const ERRORS: Readonly<Record<ServerError, readonly [number, string, string, object?]>> = {
  rate_limited: [
    429,
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.',
    quotaFailure('GenerateRequestsPerMinutePerProjectPerModel'),
  ],
  overloaded: [503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'],
  unavailable: [503, 'UNAVAILABLE', 'The service is currently unavailable.'],
  server_error: [500, 'INTERNAL', 'An internal error has occurred. Please retry.'],
  unauthorized: [
    400,
    'INVALID_ARGUMENT',
    'API key not valid. Please pass a valid API key.',
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
    },
  ],
  forbidden: [
    403,
    'PERMISSION_DENIED',
    'Generative Language API has not been used in project 1 before or it is disabled.',
  ],
  no_credit: [
    429,
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota, please check your plan and billing details.',
    quotaFailure('GenerateRequestsPerDayPerProjectPerModel-FreeTier'),
  ],
  context_overflow: [
    400,
    'INVALID_ARGUMENT',
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).',
  ],
  unknown_model: [
    404,
    'NOT_FOUND',
    'models/MODEL is not found for API version v1beta, or is not supported for generateContent.',
  ],
  bad_request: [
    400,
    'INVALID_ARGUMENT',
    'Please ensure that function response turn comes immediately after a function call turn.',
  ],
}

function quotaFailure(quotaId: string): object {
  const quotaMetric = 'generativelanguage.googleapis.com/generate_content_requests'
  const violations = [{ quotaMetric, quotaId, quotaValue: '20' }]
  return { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations }
}

function errorOf(error: ServerError, model: string): HttpAnswer {
  const [status, name, message, detail] = ERRORS[error]
  const details = detail === undefined ? {} : { details: [detail] }
  const text = message.replace('MODEL', model)
  return { status, body: { error: { code: status, message: text, status: name, ...details } } }
}
