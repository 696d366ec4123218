import type { Reply, ServerError } from './answer.ts'

/** A piece of a prompt, in the order in which the provider reads it. */
export interface PromptBlock {
  /** What it means, without marks that only steer the cache. */
  readonly content: string
  /** Whether the request asks for the prefix up to here to be cached. */
  readonly isMarked: boolean
}

/** What a reply says about itself besides its parts. */
export interface ReplyFacts {
  /** Counts the requests of a server, for ids. */
  readonly number: number
  readonly model: string
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  /** The request's body, where a wire answers differently by it. */
  readonly body: Readonly<Record<string, unknown>>
}

export interface HttpAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** The protocol of one provider, as far as a server needs it. */
export interface Wire {
  readonly name: WireName
  readonly contentType: string
  /** Whether a request to that path asks for a reply. */
  matches(path: string): boolean
  modelOf(path: string, body: Readonly<Record<string, unknown>>): string
  isStreaming(path: string, body: Readonly<Record<string, unknown>>): boolean
  blocksOf(body: Readonly<Record<string, unknown>>): readonly PromptBlock[]
  /** The reply as frames of a stream, each of which is complete. */
  framesOf(reply: Reply, facts: ReplyFacts): readonly string[]
  /** The reply as one body. */
  bodyOf(reply: Reply, facts: ReplyFacts): unknown
  errorOf(error: ServerError, model: string): HttpAnswer
  /** The frame that says in the middle of a stream that something went wrong. */
  readonly errorFrame: string
  /** A frame that cannot be read. */
  readonly garbageFrame: string
}

export type WireName = 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini' | 'ollama'

/** An event of a stream of server-sent events. */
export function sse(data: unknown, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

/** A text cut into deltas. */
export function pieces(text: string, pieceChars = 24): string[] {
  const result: string[] = []
  for (let at = 0; at < text.length; at += pieceChars) result.push(text.slice(at, at + pieceChars))
  return result
}

/** A list in a body; empty when there is none. */
export function listIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value : []
}

/** A block of a prompt from any value; marks of the cache are not part of what it means. */
export function block(kind: string, value: unknown): PromptBlock {
  const marked = (value as { cache_control?: unknown } | null)?.cache_control
  const content = JSON.stringify(value, (key, inner) =>
    key === 'cache_control' ? undefined : inner,
  )
  return { content: `${kind} ${content}`, isMarked: marked !== undefined && marked !== null }
}
