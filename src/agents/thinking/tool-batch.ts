import type { ThoughtCall } from './outcomes.ts'

/**
 * The calls that are carried out next: read-only ones that follow each other together, any other
 * alone, so that a crash repeats at most the one that was under way.
 */
export function nextBatch(calls: readonly ThoughtCall[]): readonly ThoughtCall[] {
  const end = calls.findIndex(({ isReadOnly }) => !isReadOnly)
  if (end === -1) return calls
  return calls.slice(0, Math.max(1, end))
}
