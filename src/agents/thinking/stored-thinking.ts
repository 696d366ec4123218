import type { Amounts } from '../../ledger/amounts.ts'
import type { BlobRef, EffectId, JsonObject } from '../values.ts'
import type { Note, Setback, ThoughtCall, Transcript } from './outcomes.ts'
import { knownBefore, type Repetition } from './repetition.ts'

/**
 * Thinking as an agent stores it: a turn, its tool calls, the next turn, until a tool ends the
 * state or a bound is reached. A reply is committed before its calls are carried out, and every
 * result before the next turn, because each is the outcome of an effect of its own.
 */
export type Thinking = {
  /** The turn under way, from 1. */
  readonly turn: number
  /** Whether it is the last before a bound, be it one of the ledger. */
  readonly isLast: boolean
  readonly transcript: Transcript | null
  readonly notes: readonly Note[]
  /** What is waited for: leave of the ledger, or the outcome of this effect; null at rest. */
  readonly awaits: EffectId | 'ledger' | null
  /** Which of its answers the ledger's is to be. */
  readonly call: string
  readonly purpose: 'turn' | 'summary'
  /** What was set aside for the turn under way. */
  readonly reserved: Amounts | null
  /** Calls of the last reply that have no result yet, and where it is. */
  readonly calls: readonly ThoughtCall[]
  readonly reply: BlobRef | null
  readonly known: Repetition
  /** About how many tokens the next request has. */
  readonly tokens: number
  /** What it has at the most as far as somebody has counted: up to so many bytes of the conversation. */
  readonly most: { readonly tokens: number; readonly bytes: number } | null
  /** Summaries since the last turn that succeeded. */
  readonly summaries: number
  /** How long a request was that the provider did not take, since then. */
  readonly refusedBytes: number | null
  /** The one turn that had to make do with less than it needs, and with how much it can. */
  readonly short: { readonly turn: number; readonly tokensMin: number } | null
  /** Tries of the turn under way that came to nothing after they had cost something. */
  readonly setback: (Setback & { readonly count: number }) | null
}

/** Thinking as it was stored, also by a version that knew less of it. */
export function storedThinking(data: JsonObject): Thinking {
  const thinking = data.thinking as unknown as Thinking
  const { short = null, refusedBytes = null, setback = null, most = null, known } = thinking
  return { ...thinking, short, refusedBytes, setback, most, known: knownBefore(known) }
}
