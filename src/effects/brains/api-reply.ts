import type {
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3ToolCall,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider'
import type { ApiProvider } from './api-model.ts'
import type { BrainEvent, BrainFailure, ToolCall, Usage } from './brain.ts'
import { ReasoningDetails } from './reasoning-details.ts'
import { hasRepeatedKey } from './repeated-key.ts'
import { type ReplyShape, type ShapePart, withoutLastReasoning } from './reply-shape.ts'
import { readTokens } from './token-count.ts'

/** More than any model writes in a turn; it bounds what a turn costs in memory. */
const CONTENT_CHARS_MAX = 4_194_304

const CALLS_MAX = 1_000

/** Parsing takes any depth, and most of what walks a value does not. */
const INPUT_DEPTH_MAX = 64

/** What some provider signs or encrypts, and refuses a conversation without. */
const KEPT = ['signature', 'redactedData', 'reasoningEncryptedContent', 'thoughtSignature']

/** The last events of OpenAI's replies; by its older protocol it is what was used, after a reason. */
const WHOLE: readonly string[] = ['response.completed', 'response.incomplete']

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Puts one reply together from the parts of its stream. */
export class ReplyReader {
  readonly #provider: ApiProvider
  readonly #model: string
  readonly #parts = new Map<string, Mutable<ShapePart>>()
  readonly #calls: ToolCall[] = []
  readonly #details = new ReasoningDetails()
  #answeredBy: string
  #chars = 0
  #hasText = false
  #refusal = ''
  #usage: Usage | undefined
  #finish: LanguageModelV3FinishReason | undefined
  #failure: BrainFailure | undefined
  #hasReason = false
  #isWhole = false
  #error: unknown

  constructor(provider: ApiProvider, model: string) {
    this.#provider = provider
    this.#model = model
    this.#answeredBy = model
  }

  /** Whether the provider said that this was all, before its library says so. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** Whether nothing more is to be read. */
  get isEnded(): boolean {
    return this.#finish !== undefined || this.#failure !== undefined
  }

  /** What the provider said about the cost so far. */
  get usage(): Usage | undefined {
    return this.#usage
  }

  /**
   * The provider's last words, where they speak of an error. What the library read of it is less: it
   * leaves out what it does not know, such as what a router was told by the provider behind it.
   */
  get error(): unknown {
    return this.#error
  }

  /** Takes in one part; the answer is what there is to tell at once. */
  take(part: LanguageModelV3StreamPart): BrainEvent | undefined {
    switch (part.type) {
      case 'text-start':
      case 'text-end':
        return this.#takeText(part.id, '', part.providerMetadata)
      case 'text-delta':
        return this.#takeText(part.id, part.delta, part.providerMetadata)
      case 'reasoning-start':
      case 'reasoning-end':
        return this.#takeReasoning(part.id, '', part.providerMetadata)
      case 'reasoning-delta':
        return this.#takeReasoning(part.id, part.delta, part.providerMetadata)
      case 'tool-call':
        // What the provider carried out itself was not asked of us.
        if (part.providerExecuted !== true) this.#takeCall(part)
        return undefined
      case 'raw':
        return this.#takeRaw(part.rawValue as RawChunk | null)
      case 'response-metadata':
        // Azure begins with a chunk that names none.
        if (part.modelId) this.#answeredBy = part.modelId
        return undefined
      case 'finish':
        this.#finish = part.finishReason
        this.#usage = toUsage(part.usage, this.#provider, this.#usage)
        // What was counted by then is not what the whole of it would have been.
        if (isCutShort(part.finishReason)) this.#usage = { ...this.#usage, outputTokens: null }
        return undefined
      default:
        return undefined
    }
  }

  /** What is wrong with the reply as it is; undefined when it is whole. */
  get failure(): BrainFailure | undefined {
    return this.#failure ?? this.#judge()
  }

  /** The events that end a whole reply, except its cost. */
  end(): BrainEvent[] {
    const calls = this.#calls.map((call): BrainEvent => ({ type: 'tool_call', call }))
    const isCut = this.#finish?.unified === 'length'
    const reason = isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'
    const opaque = this.#shape()
    const finished = { type: 'finished', reason, model: this.#answeredBy } as const
    return [...calls, opaque === undefined ? finished : { ...finished, opaque }]
  }

  #takeText(id: string, delta: string, meta?: SharedV3ProviderMetadata): BrainEvent | undefined {
    const part = this.#partOf(`text ${id}`, { type: 'text', chars: 0 }, meta)
    if (part.type !== 'text' || !this.#count(delta)) return undefined
    part.chars += delta.length
    this.#hasText ||= delta.trim() !== ''
    return { type: 'text', text: delta }
  }

  #takeReasoning(id: string, delta: string, meta?: SharedV3ProviderMetadata) {
    const part = this.#partOf(`reasoning ${id}`, { type: 'reasoning', text: '' }, meta)
    if (part.type !== 'reasoning' || !this.#count(delta)) return undefined
    part.text += delta
    return { type: 'reasoning', text: delta } as const
  }

  #takeCall({ toolCallId: id, toolName: name, input, providerMetadata }: LanguageModelV3ToolCall) {
    const isKnown = this.#calls.some((call) => call.id === id)
    if (id === '' || isKnown) return this.#fail(`two tool calls have the id "${id}"`)
    if (this.#calls.length >= CALLS_MAX) return this.#fail(`more than ${CALLS_MAX} tool calls`)
    this.#count(input)
    this.#partOf(`call ${id}`, { type: 'call', id }, providerMetadata)
    this.#calls.push({ id, name, input: parseInput(input) })
  }

  /** What the libraries leave out: refusals in words, details, the input's cost, the version. */
  #takeRaw(chunk: RawChunk | null): undefined {
    this.#error = chunk?.error == null ? undefined : chunk
    if (typeof chunk !== 'object' || chunk === null) return
    if (chunk.type === 'response.refusal.delta') this.#refusal += String(chunk.delta)
    const refusal = Array.isArray(chunk.choices) ? chunk.choices[0]?.delta?.refusal : undefined
    if (typeof refusal === 'string') this.#refusal += refusal
    // The libraries read the first choice of a chunk, whichever it is, and so mix them.
    if (isOfAnother(chunk.choices) || isOfAnother(chunk.candidates)) {
      this.#fail('the provider gave more than one answer')
    }
    const { modelVersion } = chunk
    if (modelVersion && typeof modelVersion === 'string') this.#answeredBy = modelVersion
    if (chunk.type === 'message_start') this.#usage = toStartUsage(chunk.message?.usage ?? {})
    if (WHOLE.includes(String(chunk.type))) this.#isWhole = true
    const [choice] = Array.isArray(chunk.choices) ? chunk.choices : []
    this.#hasReason ||= choice?.finish_reason != null
    this.#details.take(choice?.delta?.reasoning_details)
    const end = endUsageIn(chunk)
    if (end == null || !this.#provider.startsWith('openai')) return
    this.#usage = toEndUsage(end)
    this.#isWhole ||= this.#hasReason
  }

  /** The part of that name, made when it is new; what is said about it is kept. */
  #partOf(key: string, fresh: Mutable<ShapePart>, meta: SharedV3ProviderMetadata | undefined) {
    const part = this.#parts.get(key) ?? fresh
    this.#parts.set(key, part)
    if (meta !== undefined) {
      const merged = Object.entries(meta).map(([name, said]) => [
        name,
        { ...part.meta?.[name], ...said },
      ])
      part.meta = { ...part.meta, ...Object.fromEntries(merged) }
    }
    return part
  }

  /** Whether there is something, and room for it. */
  #count(content: string): boolean {
    this.#chars += content.length
    if (this.#chars > CONTENT_CHARS_MAX) {
      this.#fail(`the reply has more than ${CONTENT_CHARS_MAX} characters`)
    }
    return content !== '' && this.#failure === undefined
  }

  #fail(message: string): void {
    this.#failure ??= { kind: 'invalid_output', message }
  }

  #judge(): BrainFailure | undefined {
    const finish = this.#finish ?? { unified: 'other', raw: undefined }
    const { unified, raw } = finish
    if (isCutShort(finish)) {
      return { kind: 'network', message: 'the stream ended before the reply did' }
    }
    if (this.#refusal !== '' || unified === 'content-filter') {
      return { kind: 'refused', message: `the model declined: ${this.#refusal || raw}` }
    }
    if (raw === 'model_context_window_exceeded') {
      return { kind: 'context_overflow', message: 'the reply filled the context window' }
    }
    if (raw === 'error') return { kind: 'overloaded', message: 'the provider ended with an error' }
    const isMalformed = unified === 'error' || (unified === 'other' && this.#provider === 'google')
    if (isMalformed) return { kind: 'invalid_output', message: `the reply ended with ${raw}` }
    const isEmpty = !this.#hasText && this.#calls.length === 0 && unified !== 'length'
    return isEmpty ? { kind: 'invalid_output', message: 'the reply is empty' } : undefined
  }

  /** What has to come back with the conversation; undefined when nothing has to. */
  #shape(): ReplyShape | undefined {
    const parts = withoutLastReasoning([...this.#parts.values()])
    const isSigned = parts.some(({ meta }) =>
      Object.values(meta ?? {}).some((said) => KEPT.some((name) => said?.[name] != null)),
    )
    // These want their reasoning back as plain text.
    const isPlain = this.#provider === 'ollama' || this.#provider === 'openai-compatible'
    const isReasoned = isPlain && parts.some(({ type }) => type === 'reasoning')
    const details = parts.length === 0 ? undefined : this.#details.whole
    if (!isSigned && !isReasoned && details === undefined) return undefined
    return { from: `${this.#provider}/${this.#model}`, parts, ...(details && { details }) }
  }
}

/** Whether a stream ended without a word about its end. */
function isCutShort({ unified, raw }: LanguageModelV3FinishReason): boolean {
  return unified === 'other' && raw === undefined
}

/** The few things that are read from a provider's own chunks. */
interface RawChunk {
  readonly type?: unknown
  readonly delta?: unknown
  readonly error?: unknown
  readonly modelVersion?: unknown
  readonly choices?: unknown
  readonly candidates?: unknown
  readonly message?: { readonly usage?: Counts }
  readonly usage?: Counts | null
  readonly response?: { readonly usage?: Counts | null }
}

/** Whether some choice of a chunk is not the first, which is all that is asked for. */
function isOfAnother(choices: unknown): boolean {
  return Array.isArray(choices) && choices.some((choice) => choice?.index > 0)
}

/**
 * The input as JSON has it, or the text itself where it is none, or says something twice: nobody can
 * tell which of the two is meant. Where a call has nothing to say, many servers send nothing, or null.
 */
function parseInput(text: string): unknown {
  if (/^\s*(?:null\s*)?$/.test(text)) return {}
  try {
    const value = JSON.parse(text)
    return isShallow(value, INPUT_DEPTH_MAX) && !hasRepeatedKey(text) ? value : text
  } catch {
    return text
  }
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((inner) => isShallow(inner, depth - 1))
}

type Counts = Readonly<Record<string, unknown>>

function toUsage(
  { inputTokens, outputTokens, raw }: LanguageModelV3Usage,
  by: ApiProvider,
  known: Usage | undefined,
): Usage {
  const counts = (raw ?? {}) as Counts
  // Its library does not find all that was said.
  if (by === 'openai-compatible') return raw == null && known ? known : toEndUsage(counts)
  // Google's library says 0 for what was not said.
  const isSaid = (...names: readonly string[]) =>
    by !== 'google' || names.some((name) => counts[name] != null)
  const isReplySaid = isSaid('candidatesTokenCount', 'thoughtsTokenCount')
  return {
    // No request has none.
    inputTokens: isSaid('promptTokenCount') ? readTokens(inputTokens.total) || null : null,
    cachedTokens: readTokens(inputTokens.cacheRead),
    cacheWriteTokens: readTokens(inputTokens.cacheWrite),
    outputTokens: isReplySaid ? readTokens(outputTokens.total) : null,
  }
}

function cachedIn(usage: Counts): unknown {
  const details = (usage.prompt_tokens_details ?? {}) as Counts
  return details.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens
}

/** Some servers count what was reasoned, and charge for it, in their total alone. */
function outputIn(usage: Counts): number | null {
  const output = readTokens(usage.completion_tokens)
  const input = readTokens(usage.prompt_tokens)
  const total = readTokens(usage.total_tokens)
  return output !== null && input && total ? Math.max(output, total - input) : output
}

/**
 * What OpenAI counted by the end of a reply. Some servers count in its middle too, and Moonshot says
 * it in the choice that ends.
 */
function endUsageIn({ choices, usage, response }: RawChunk): Counts | null | undefined {
  if (!Array.isArray(choices)) return response?.usage
  if (choices.length === 0) return usage
  const [choice] = choices
  return choice?.finish_reason ? choice.usage : undefined
}

/**
 * The same by either of its protocols; the library says it only where the stream ends as it should.
 * Some gateways have the names of both, with 0 for the newer ones.
 */
function toEndUsage(usage: Counts): Usage {
  const { prompt_tokens, completion_tokens } = usage
  const details = (usage.input_tokens_details ?? {}) as Counts
  return {
    inputTokens: readTokens(prompt_tokens ?? usage.input_tokens) || null,
    cachedTokens: readTokens(cachedIn(usage) ?? details.cached_tokens),
    cacheWriteTokens: null,
    outputTokens: completion_tokens == null ? readTokens(usage.output_tokens) : outputIn(usage),
  }
}

/** What Anthropic says as a reply begins; of what it is about to say, nobody knows when it is cut. */
function toStartUsage(usage: Counts): Usage {
  const cachedTokens = readTokens(usage.cache_read_input_tokens)
  const cacheWriteTokens = readTokens(usage.cache_creation_input_tokens)
  const freshTokens = readTokens(usage.input_tokens)
  const inputTokens =
    freshTokens === null ? null : freshTokens + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0)
  return { inputTokens, cachedTokens, cacheWriteTokens, outputTokens: null }
}
