import type { BlobRef, Json } from '../values.ts'

/** How many tries in a row may have cost something for nothing before the provider counts as out. */
export const SETBACKS_MAX = 3

/** A try of a turn that came to nothing after it had cost something; the next one waits first. */
export type Setback = {
  readonly kind: string
  readonly message: string
  /** How often the turn was asked for so far. */
  readonly tries: number
  /** Until when the provider asked to be left alone. */
  readonly retryAtMs?: number
}

/** What the effects of thinking ask for and come to; the handlers and the loop agree on it here. */

/**
 * A part of a conversation. A short one travels along until it is kept as a blob, which is done while
 * a model thinks, so that nobody waits for the disk.
 */
export type PartRef = BlobRef & { readonly text?: string }

/** A conversation: its last part, which knows the one before it. */
export type Transcript = {
  readonly tail: PartRef
  /** Parts before the last that travel along too. */
  readonly travelling: readonly PartRef[]
  readonly parts: number
  /** Of all parts together. */
  readonly bytes: number
}

/** What an effect `think` asks for. */
export type ThinkInput = {
  readonly brain: string
  readonly task: string
  readonly withheld: readonly string[]
  readonly state: string
  readonly story: string | null
  readonly workspace: { readonly run: string; readonly story: string } | null
  /** Whether a refused key is an outcome, and not waited out. */
  readonly isToldOfRefusal?: true
  /** Needed until the conversation has its opening. */
  readonly variables: Readonly<Record<string, string | BlobRef>>
  /** Null before its first turn. */
  readonly transcript: Transcript | null
  /** What the model is told besides, before this turn. */
  readonly notes: readonly Note[]
  readonly turn: number
  readonly outputTokensMax: number
  /** What was set aside for it. */
  readonly tokensReserved: { readonly input: number; readonly output: number }
  /** When the time of the run or of the story is over; absent where none is set. */
  readonly untilMs?: number
  /** Whether the tool that ends the state has to be called now. */
  readonly isLast: boolean
  /** What became of the try before, and how many in a row there were; absent after none. */
  readonly setback?: Setback & { readonly count: number }
  /** `summary` puts the conversation into fewer words, and begins it anew with them. */
  readonly purpose: 'turn' | 'summary'
  /** How long the request may be; absent where nothing of the conversation is to be cut. */
  readonly bytesMax?: number
  /** Whether a provider has counted that it fits what was set aside, however long it is. */
  readonly isCounted?: true
}

/** Something said to a model by the loop itself; its words are a prompt of that name. */
export type Note = {
  readonly name: 'no_call' | 'last_turn' | 'cut_off' | 'unusable' | 'message'
  /** For those that have something to fill in. */
  readonly text?: string
  /** What tests said, beside the words of a message. */
  readonly failures?: string
}

/** What came of a turn. */
export type Thought = {
  /** The conversation with what was said; the one before where nothing was. */
  readonly transcript: Transcript | null
  readonly calls: readonly ThoughtCall[]
  readonly finish: 'stop' | 'tool_calls' | 'length' | 'failed'
  /** Why it came to nothing, where `finish` is `failed`. */
  readonly failure: {
    readonly kind: string
    readonly message: string
    /** Where the same turn is to be tried again. */
    readonly setback?: Setback
  } | null
  readonly tokens: {
    readonly input: number
    readonly cached: number
    readonly output: number
  }
  /** What the conversation has by now: the request and the reply, without tries that failed. */
  readonly contextTokens: number
  /** Whether anybody knows what it used; if not, all that was set aside counts. */
  readonly isUsageKnown: boolean
  /** Null where nobody knows. */
  readonly microdollars: number | null
  readonly model: string
  /** The beginning of what was said, for people. */
  readonly said: string
}

/** A call that waits to be carried out. Its input is in the conversation. */
export type ThoughtCall = {
  readonly id: string
  readonly name: string
  readonly isReadOnly: boolean
  /** The same for the same tool with the same input. */
  readonly key: string
}

/** What an effect `use_tools` asks for. */
export type UseToolsInput = {
  readonly task: string
  readonly withheld: readonly string[]
  readonly workspace: { readonly run: string; readonly story: string } | null
  readonly transcript: Transcript
  /** The part of it that holds the calls. */
  readonly reply: BlobRef
  /** Which of its calls, in order. */
  readonly ids: readonly string[]
  /** Whether only what ends the state is carried out. */
  readonly isLast: boolean
  /** Which of these are only answered with advice, since they came to nothing new before. */
  readonly refused: readonly string[]
}

/** What came of calls. */
export type ToolsUsed = {
  /** The conversation with their results. */
  readonly transcript: Transcript
  readonly answers: readonly {
    readonly id: string
    readonly isError: boolean
    /** The same for the same answer. */
    readonly result: string
    /** Whether it was a call after which others may come out anew. */
    readonly mayHaveChanged: boolean
    /** What the state is ended with. */
    readonly ends: { readonly tool: string; readonly input: Json } | null
  }[]
}
