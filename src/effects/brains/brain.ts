/** One turn of thinking: everything a model is told, and what it may answer with. */
export interface Turn {
  /** Whose turn it is, for scripted brains and for the records. */
  readonly role: string
  /** What is thought about, where a state has several such things: `architect/plan-review`. */
  readonly task?: string
  readonly state: string
  readonly story: string | null
  /** Counted from 1 within the state. */
  readonly number: number
  /** Which try of this turn it is, from 1, as far as the caller knows; absent, the first. */
  readonly attempt?: number
  /** Never changes within a state, so that providers can cache it. */
  readonly system: string
  /** Grows at its end alone. */
  readonly messages: readonly Message[]
  /** In a fixed order. */
  readonly tools: readonly ToolDefinition[]
  /** Those of them that end the state; absent, all. Who has hands of its own needs no others. */
  readonly endsWith?: readonly string[]
  /** The tool that has to be called: the last turn before a bound ends the state. */
  readonly forcedTool?: string
  /** Present where only words are wanted: the tools are there for the provider's cache. */
  readonly isToolless?: true
  readonly outputTokensMax: number
  /** How many tokens were set aside for the turn; for a brain that asks its model more than once. */
  readonly tokensMax?: number
  /** Where a brain that has hands of its own works; a model behind an API has none. */
  readonly workspace?: TurnWorkspace
}

/** The folder of a turn, and what may be done there in this state. */
export interface TurnWorkspace {
  readonly folder: string
  readonly access: 'read' | 'write'
}

export type Message =
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant'
      readonly text: string
      readonly toolCalls: readonly ToolCall[]
      /** What the provider wants to see again, as it came, such as signed reasoning. */
      readonly opaque?: unknown
    }
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] }

export interface ToolDefinition {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly input: Readonly<Record<string, unknown>>
  /** The provider is to hold calls to it, where it can: it has nothing in it that none can. */
  readonly isStrict?: true
}

/** What the model asks for. The input is as it came, not yet held against the schema. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

export interface ToolResult {
  readonly id: string
  readonly name: string
  readonly text: string
  readonly isError: boolean
}

/** Tokens of one turn. Cached ones are part of the input; null where the provider does not say. */
export interface Usage {
  readonly inputTokens: number | null
  readonly cachedTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly outputTokens: number | null
}

/** Of a model that has been at work, where nobody says how much it used. */
export const UNTOLD_USAGE: Usage = {
  inputTokens: null,
  cachedTokens: null,
  cacheWriteTokens: null,
  outputTokens: null,
}

/**
 * What happens during a turn. The last event is `finished` or `failed`, and there is always one.
 * Text and reasoning come as they are thought; tool calls come once the reply is whole, so that a
 * failed turn has none. There is at most one `usage`, also in a failed turn: it may cost money. One
 * that fails without it was not thought about.
 */
export type BrainEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call'; readonly call: ToolCall }
  | { readonly type: 'usage'; readonly usage: Usage }
  | {
      readonly type: 'finished'
      readonly reason: 'stop' | 'tool_calls' | 'length'
      readonly model: string
      readonly opaque?: unknown
    }
  | { readonly type: 'failed'; readonly failure: BrainFailure }

/** Why a turn came to nothing. */
export interface BrainFailure {
  readonly kind: FailureKind
  /** For people. Holds no secret. */
  readonly message: string
  /** How long the provider asked to be left alone. */
  readonly retryAfterMs?: number
}

/** What each one means, and what is done about it, is in `docs/brains.md`. */
export type FailureKind =
  | 'rate_limited'
  | 'overloaded'
  | 'auth'
  | 'quota'
  | 'context_overflow'
  | 'network'
  | 'timeout'
  | 'stalled'
  | 'refused'
  | 'invalid_output'
  | 'rejected'
  | 'aborted'

/** Something that can think. */
export interface Brain {
  /** What it is, in a word or two: a model's name, an agent's command. */
  readonly name: string
  /** Thinks for one turn. Never rejects and never throws: a failed turn is an event. */
  think(turn: Turn, signal: AbortSignal): AsyncIterable<BrainEvent>
}
