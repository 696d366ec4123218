import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Message,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider'
import { z } from 'zod'
import type { ApiModel } from './api-model.ts'
import { readTokens } from './token-count.ts'

export interface OllamaOptions {
  readonly model: string
  readonly apiKey: string
  readonly baseUrl: string
  readonly contextTokens: number
  readonly fetch: typeof fetch
}

/** An answer of Ollama that is no success, in the shape in which other providers' errors come. */
class OllamaError extends Error {
  override readonly name = 'OllamaError'
  readonly statusCode: number
  readonly responseHeaders: Readonly<Record<string, string>>
  readonly responseBody: string

  constructor(response: Response, body: string) {
    super(saidIn(body) ?? response.statusText)
    this.statusCode = response.status
    this.responseHeaders = Object.fromEntries(response.headers)
    this.responseBody = body
  }
}

/** One that is none makes no line unreadable. */
const count = z
  .unknown()
  .optional()
  .transform((value) => readTokens(value) ?? undefined)

const LINE = z.object({
  model: z.string().optional(),
  error: z.unknown().optional(),
  message: z
    .object({
      content: z.string().nullish(),
      thinking: z.string().nullish(),
      tool_calls: z
        .array(
          z.object({
            id: z.string().nullish(),
            function: z.object({ name: z.string(), arguments: z.unknown().optional() }),
          }),
        )
        .nullish(),
    })
    .nullish(),
  done: z.boolean().optional(),
  done_reason: z.string().nullish(),
  prompt_eval_count: count,
  eval_count: count,
})

type Line = z.infer<typeof LINE>

/**
 * A model of Ollama, over `/api/chat`: the OpenAI-compatible endpoint ignores the context size.
 * Written by hand, because the library for it drops lines it cannot read, errors among them.
 */
export function openOllamaModel(options: OllamaOptions): ApiModel {
  const { apiKey, baseUrl, fetch } = options
  return {
    async doStream(call) {
      const authorization = apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }
      const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/api/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorization },
        body: JSON.stringify(toBody(call, options)),
        signal: call.abortSignal ?? null,
      })
      if (!response.ok) throw new OllamaError(response, await response.text())
      // A success without a body is a reply that ended before it began.
      return { stream: ReadableStream.from(response.body === null ? [] : readParts(response.body)) }
    },
  }
}

/** Ollama takes no choice of tools: a forced one is the only one on offer, and none is none. */
function toBody(call: LanguageModelV3CallOptions, { model, contextTokens }: OllamaOptions) {
  const { toolChoice: choice } = call
  const offered = choice?.type === 'none' ? [] : (call.tools ?? [])
  const tools = offered.flatMap((tool) => {
    if (tool.type !== 'function' || (choice?.type === 'tool' && tool.name !== choice.toolName)) {
      return []
    }
    const { name, description, inputSchema: parameters } = tool
    return [{ type: 'function', function: { name, description, parameters } }]
  })
  return {
    model,
    messages: call.prompt.flatMap(toMessages),
    ...(tools.length === 0 ? {} : { tools }),
    stream: true,
    // Otherwise a conversation that is too long loses its beginning, and nobody is told.
    truncate: false,
    shift: false,
    options: { num_ctx: contextTokens, num_predict: call.maxOutputTokens },
  }
}

function toMessages(message: LanguageModelV3Message): object[] {
  if (message.role === 'system') return [{ role: 'system', content: message.content }]
  if (message.role === 'tool') {
    return message.content.flatMap((part) => {
      if (part.type !== 'tool-result') return []
      const content = 'value' in part.output ? part.output.value : ''
      return [{ role: 'tool', content, tool_name: part.toolName, tool_call_id: part.toolCallId }]
    })
  }
  const textOf = (type: 'text' | 'reasoning') =>
    message.content.map((part) => (part.type === type ? part.text : '')).join('')
  const calls = message.content.flatMap((part) =>
    part.type === 'tool-call'
      ? [{ id: part.toolCallId, function: { name: part.toolName, arguments: part.input } }]
      : [],
  )
  const thinking = textOf('reasoning')
  return [
    {
      role: message.role,
      content: textOf('text'),
      ...(thinking === '' ? {} : { thinking }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ]
}

async function* readParts(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<LanguageModelV3StreamPart> {
  let count = 0
  for await (const text of readLines(body)) {
    const line = LINE.parse(JSON.parse(text))
    if (line.error) {
      yield { type: 'error', error: line.error }
      return
    }
    yield { type: 'response-metadata', ...(line.model ? { modelId: line.model } : {}) }
    const { thinking, content, tool_calls: calls } = line.message ?? {}
    if (thinking) yield { type: 'reasoning-delta', id: 'reasoning', delta: thinking }
    if (content) yield { type: 'text-delta', id: 'text', delta: content }
    for (const { id, function: called } of calls ?? []) {
      count += 1
      yield toCall(id || `call_${count}_${crypto.randomUUID()}`, called)
    }
    if (line.done) {
      yield toFinish(line)
      return
    }
  }
}

function toCall(id: string, called: { name: string; arguments?: unknown }) {
  const { name, arguments: given = {} } = called
  const input = typeof given === 'string' ? given : JSON.stringify(given)
  return { type: 'tool-call', toolCallId: id, toolName: name, input } as const
}

function toFinish(line: Line): LanguageModelV3StreamPart {
  const raw = line.done_reason ?? 'stop'
  const unified = raw === 'stop' || raw === 'length' ? raw : 'other'
  const unknown = { noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
  const usage = {
    inputTokens: { total: line.prompt_eval_count, ...unknown },
    outputTokens: { total: line.eval_count, text: undefined, reasoning: undefined },
  }
  return { type: 'finish', finishReason: { unified, raw }, usage }
}

/** Lines of JSON. What the stream ends with, without a line break, is a line too. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let open = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const [first = '', ...rest] = text.split('\n')
    open += first
    for (const next of rest) {
      if (open.trim() !== '') yield open
      open = next
    }
  }
  if (open.trim() !== '') yield open
}

function saidIn(body: string): string | undefined {
  try {
    const { error } = JSON.parse(body)
    return typeof error === 'string' ? error : undefined
  } catch {
    return undefined
  }
}
