import { createHash } from 'node:crypto'
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider'
import type { ApiProvider } from './api-model.ts'
import type { Message, ToolDefinition, Turn } from './brain.ts'
import { type ReplyShape, readReplyShape, restoreParts } from './reply-shape.ts'
import type { RequestForm } from './request-form.ts'
import { inStrictOrder } from './role-order.ts'
import { choiceOf } from './tool-choice.ts'

type AssistantContent = Extract<LanguageModelV3Message, { role: 'assistant' }>['content']
type CallPart = Extract<AssistantContent[number], { type: 'tool-call' }>

/** Who is asked, and how. */
export interface PromptTarget extends RequestForm {
  readonly provider: ApiProvider
  readonly model: string
}

/** Providers refuse a block of text with nothing in it. */
const BLANK = '(empty)'

/** In place of what was not reasoned, or not kept. Some take nothing at all for a missing one. */
const UNREASONED = ' '

/** What a model is taken to have said where a server wants it to speak. */
const NOTED: Assistant = { role: 'assistant', text: 'Noted.', toolCalls: [] }

/** Those that hold a call to its schema while it is written. */
const STRICT_PROVIDERS: readonly ApiProvider[] = ['anthropic', 'openai', 'google']

/** Those that refuse a conversation for an id of a call that another provider gave. */
const STRICT_ABOUT_IDS: readonly ApiProvider[] = ['anthropic', 'openai']

/** Anthropic takes these characters alone, and OpenAI this many. */
const COMMON_ID = /^[a-zA-Z0-9_-]{1,64}$/

const CACHED: SharedV3ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }

/**
 * A turn as the provider's library takes it. No sampling parameters: newer models refuse them. The
 * same turn gives the same request, and a longer conversation one that begins the same.
 */
export function toCallOptions(turn: Turn, target: PromptTarget): LanguageModelV3CallOptions {
  const { tools, toolChoice } = choiceOf(turn, target.choice)
  const offered = tools.map((tool, index) => toTool(tool, target, index === tools.length - 1))
  const options: LanguageModelV3CallOptions = {
    prompt: toPrompt(turn, target),
    ...(isLimitRenamed(target) ? {} : { maxOutputTokens: turn.outputTokensMax }),
    providerOptions: providerOptionsOf(turn, target),
    includeRawChunks: true,
  }
  if (offered.length === 0) return options
  return { ...options, tools: offered, toolChoice }
}

function toTool(
  { name, description, input, isStrict }: ToolDefinition,
  { provider }: PromptTarget,
  isLast: boolean,
): LanguageModelV3FunctionTool {
  const tool = { type: 'function', name, description, inputSchema: input } as const
  const cached = provider === 'anthropic' && isLast ? { providerOptions: CACHED } : {}
  // What only speaks like a provider may refuse what it does not know.
  if (isStrict && STRICT_PROVIDERS.includes(provider)) return { ...tool, ...cached, strict: true }
  // Without it the Responses API makes schemas strict, and every optional property required.
  return provider === 'openai' ? { ...tool, strict: false } : { ...tool, ...cached }
}

function isLimitRenamed({ provider, ways }: PromptTarget): boolean {
  return provider === 'openai-compatible' && ways.has('renamed_limit')
}

function providerOptionsOf(turn: Turn, target: PromptTarget): SharedV3ProviderOptions {
  const { provider } = target
  // Its library takes what it does not know into the request as it is.
  if (isLimitRenamed(target)) return { compatible: { max_completion_tokens: turn.outputTokensMax } }
  if (provider === 'anthropic') {
    // Calls are delivered whole; streamed inputs would come without having been checked.
    return { anthropic: { toolStreaming: false } }
  }
  if (provider !== 'openai') return {}
  const key = createHash('sha256').update(`${turn.role}\n${turn.story}\n${turn.system}`)
  // Nothing is kept at the provider, so reasoning travels with the conversation, encrypted.
  return { openai: { store: false, promptCacheKey: key.digest('hex').slice(0, 32) } }
}

function toPrompt(turn: Turn, target: PromptTarget): LanguageModelV3Prompt {
  const system: LanguageModelV3Message = { role: 'system', content: turn.system }
  const plain = turn.messages.flatMap((message) => toMessage(message, target))
  const messages = target.ways.has('strict_order')
    ? inStrictOrder(plain, toAssistant(NOTED, target))
    : plain
  if (target.provider !== 'anthropic') return turn.system === '' ? messages : [system, ...messages]
  const marked = markCached(messages)
  return turn.system === '' ? marked : [{ ...system, providerOptions: CACHED }, ...marked]
}

/**
 * The last message is where the next turn finds this one's prefix. The one before it is marked as
 * well, because Anthropic looks back 20 blocks only, and one turn may call more tools than that.
 */
function markCached(messages: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const marked = new Set(messages.filter(({ role }) => role !== 'assistant').slice(-2))
  return messages.map((message) =>
    marked.has(message) ? { ...message, providerOptions: CACHED } : message,
  )
}

function toMessage(message: Message, target: PromptTarget): LanguageModelV3Message[] {
  if (message.role === 'user') {
    return [{ role: 'user', content: [{ type: 'text', text: notBlank(message.text) }] }]
  }
  if (message.role === 'tool') {
    const content = message.results.map(({ id, name, text, isError }) => ({
      type: 'tool-result' as const,
      toolCallId: idFor(target, id),
      toolName: name,
      output: { type: isError ? ('error-text' as const) : ('text' as const), value: text },
    }))
    return content.length === 0 ? [] : [{ role: 'tool', content }]
  }
  return toAssistant(message, target)
}

type Assistant = Extract<Message, { role: 'assistant' }>

function toAssistant(message: Assistant, target: PromptTarget): LanguageModelV3Message[] {
  const from = `${target.provider}/${target.model}`
  const shape = target.withOpaque ? readReplyShape(message.opaque, from) : undefined
  const content = toAssistantContent(message, shape, target)
  if (content.length === 0) return []
  const isUnreasoned = !content.some((part) => part.type === 'reasoning' && part.text !== '')
  const fields = {
    ...(shape?.details && { reasoning_details: [...shape.details] }),
    ...(isUnreasoned && target.ways.has('all_reasoned') && { reasoning_content: UNREASONED }),
  }
  if (Object.keys(fields).length === 0) return [{ role: 'assistant', content }]
  // The library for compatible servers takes what is under this name into the message.
  return [{ role: 'assistant', content, providerOptions: { openaiCompatible: fields } }]
}

function toAssistantContent(
  { text, toolCalls }: Assistant,
  shape: ReplyShape | undefined,
  target: PromptTarget,
): AssistantContent {
  const calls: CallPart[] = toolCalls.map(({ id, name, input }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: asObject(input),
  }))
  const plain = text.trim() === '' ? calls : [{ type: 'text' as const, text }, ...calls]
  const content = shape === undefined ? plain : restoreParts(shape, text, calls)
  return content.map((part) =>
    part.type === 'tool-call' ? { ...part, toolCallId: idFor(target, part.toolCallId) } : part,
  )
}

/**
 * The id of a call as the provider takes it, the same for the same one. Others are sent what they
 * gave: there are models that read it, and write the next one like it.
 */
function idFor({ provider }: PromptTarget, id: string): string {
  if (!STRICT_ABOUT_IDS.includes(provider) || COMMON_ID.test(id)) return id
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
}

/** Providers take back an object alone, also where the model wrote something else. */
function asObject(input: unknown): unknown {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
  return isObject ? input : { unreadable_input: input ?? null }
}

function notBlank(text: string): string {
  return text.trim() === '' ? BLANK : text
}
