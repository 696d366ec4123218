import type { LanguageModelV3Message, SharedV3ProviderOptions } from '@ai-sdk/provider'
import type { ReasoningDetail } from './reasoning-details.ts'

type AssistantContent = Extract<LanguageModelV3Message, { role: 'assistant' }>['content']
type AssistantPart = AssistantContent[number]
type CallPart = Extract<AssistantPart, { type: 'tool-call' }>

/**
 * What a provider wants to see again and what a message does not hold: reasoning with its
 * signature, and in which order the parts of the reply came. Text and calls are in the message, so
 * here are only their places.
 */
export interface ReplyShape {
  /** The provider and model that wrote it; to another one it means nothing. */
  readonly from: string
  readonly parts: readonly ShapePart[]
  /** What a router wants to see again beside them. */
  readonly details?: readonly ReasoningDetail[]
}

export type ShapePart = {
  /** What the provider said about this part, under its name. */
  readonly meta?: SharedV3ProviderOptions
} & (
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'text'; readonly chars: number }
  | { readonly type: 'call'; readonly id: string }
)

/** The shape in an assistant's opaque data; undefined when it is none or another model's. */
export function readReplyShape(opaque: unknown, from: string): ReplyShape | undefined {
  const shape = opaque as ReplyShape | null | undefined
  const isShape = typeof shape === 'object' && shape !== null && Array.isArray(shape.parts)
  return isShape && shape.from === from ? shape : undefined
}

/**
 * The parts of a reply in the order in which they came. All text and all calls are in it. Reasoning
 * that nothing came of is not: it belongs to what follows it, and providers refuse it alone.
 */
export function restoreParts(
  shape: ReplyShape,
  text: string,
  calls: readonly CallPart[],
): AssistantContent {
  const open = new Map(calls.map((call) => [call.toolCallId, call]))
  const content: AssistantContent = []
  let at = 0
  for (const part of shape.parts) {
    const options = part.meta === undefined ? {} : { providerOptions: toOptions(part.meta) }
    if (part.type === 'reasoning') {
      content.push({ type: 'reasoning', text: part.text, ...options })
    } else if (part.type === 'text') {
      const piece = text.slice(at, at + part.chars)
      at += part.chars
      if (piece.trim() !== '') content.push({ type: 'text', text: piece, ...options })
    } else {
      const call = open.get(part.id)
      if (call !== undefined) content.push({ ...call, ...options })
      open.delete(part.id)
    }
  }
  // A text that grew since, because something in it was redacted.
  if (text.slice(at).trim() !== '') content.push({ type: 'text', text: text.slice(at) })
  return withoutLastReasoning([...content, ...open.values()])
}

/** The library for compatible servers reads a signature under another name than it gives it. */
function toOptions(meta: SharedV3ProviderOptions): SharedV3ProviderOptions {
  return meta.compatible === undefined ? meta : { google: meta.compatible, ...meta }
}

/** Without what was reasoned at the end of a reply, as in one that was cut off there. */
export function withoutLastReasoning<T extends { readonly type: string }>(parts: T[]): T[] {
  return parts.slice(0, parts.findLastIndex(({ type }) => type !== 'reasoning') + 1)
}
