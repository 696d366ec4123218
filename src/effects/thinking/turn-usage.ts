import type { Thought } from '../../agents/thinking/outcomes.ts'
import type { Turn, Usage } from '../brains/brain.ts'
import type { Reply } from './reply.ts'

const BYTES_PER_TOKEN = 3

/** No token has less; some models have one for each digit. */
const BYTES_PER_TOKEN_MIN = 1

export const NO_USAGE: Usage = {
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
}

/** What a turn used, as its provider says. Null where nobody knows. */
export function usageOf({ usage, failure, hasBegun }: Reply): Usage | null {
  const { inputTokens, outputTokens } = usage ?? {}
  if (usage !== null && inputTokens != null && outputTokens != null) return usage
  // A turn that said nothing before it failed has cost nothing that anybody knows of; one that was
  // given up may have been thought about.
  const isFree = failure !== null && failure.kind !== 'aborted' && !hasBegun && usage === null
  return isFree ? NO_USAGE : null
}

/** Whether a turn has to be paid for before it is asked for again. */
export function hasCost(usage: Usage | null): boolean {
  return usage === null || (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0) > 0
}

export function tokensOf(usage: Usage): Thought['tokens'] {
  const { inputTokens, cachedTokens, outputTokens } = usage
  return { input: inputTokens ?? 0, cached: cachedTokens ?? 0, output: outputTokens ?? 0 }
}

/** What a conversation has after a turn; where nobody says, as its length suggests. */
export function contextTokensOf(turn: Turn, reply: Reply, usage: Usage | null): number {
  if (usage !== null) return (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
  return Math.ceil((bytesOf(turn) + jsonBytes([reply.text, reply.calls])) / BYTES_PER_TOKEN)
}

/** How many tokens a request may have at the most, and about how many it has. */
export function sizeOf(turn: Turn): { readonly most: number; readonly about: number } {
  const bytes = bytesOf(turn)
  return {
    most: Math.ceil(bytes / BYTES_PER_TOKEN_MIN),
    about: Math.ceil(bytes / BYTES_PER_TOKEN),
  }
}

function bytesOf({ system, tools, messages }: Turn): number {
  return jsonBytes([system, tools, messages])
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
