/** One part of a scripted reply. A `bad_call` has an input that is no JSON. */
export type ReplyPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'call'; readonly name: string; readonly input: unknown; readonly id?: string }
  | { readonly type: 'bad_call'; readonly name: string; readonly text: string }

/**
 * How a reply ends. `refused` is the model's own no, `filtered` that of a filter behind it, and
 * `prompt_blocked` that of a filter before it.
 */
export type ReplyEnd =
  | 'stop'
  | 'length'
  | 'refused'
  | 'filtered'
  | 'prompt_blocked'
  | 'context_full'
  | 'malformed'

export interface Reply {
  readonly parts: readonly ReplyPart[]
  /** Absent: `stop`, or whatever a wire says after tool calls. */
  readonly end?: ReplyEnd
  readonly outputTokens?: number
  /** How many characters a delta has. */
  readonly pieceChars?: number
}

/** The errors that providers answer with, in each one's own words. */
export type ServerError =
  | 'rate_limited'
  | 'overloaded'
  | 'unavailable'
  | 'server_error'
  | 'unauthorized'
  | 'forbidden'
  | 'no_credit'
  | 'context_overflow'
  | 'unknown_model'
  | 'bad_request'

/** How a connection goes wrong after the headers, or instead of them. */
type Breakage =
  /** The connection is reset after some frames. */
  | 'cut'
  /** The stream ends properly, but too early. */
  | 'truncated'
  /** Nothing comes after some frames, and the connection stays open. */
  | 'stalled'
  /** Not even headers come. */
  | 'silent'
  /** 200 without a body. */
  | 'empty'
  /** 200 with a frame in the middle that is no JSON. */
  | 'garbage'
  /** 200 with a page of some proxy. */
  | 'html'
  /** The provider says in the middle of the stream that it cannot go on. */
  | 'error_in_stream'

/** What the server does about one request. */
export type Answer =
  | { readonly reply: Reply; readonly frameDelayMs?: number }
  | { readonly error: ServerError; readonly headers?: Readonly<Record<string, string>> }
  /** `frames` of the reply are sent before it breaks; half of them when absent. */
  | { readonly broken: Breakage; readonly reply?: Reply; readonly frames?: number }
  | {
      readonly raw: readonly (string | Uint8Array)[]
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      readonly end?: 'end' | 'cut' | 'stall'
    }

/** A reply that is nothing but a text. */
export function says(text: string): Answer {
  return { reply: { parts: [{ type: 'text', text }] } }
}

/** A reply that calls one tool. */
export function calls(name: string, input: unknown): Answer {
  return { reply: { parts: [{ type: 'call', name, input }] } }
}
