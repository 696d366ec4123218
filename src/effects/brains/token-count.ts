/** More than any turn has: who says more has miscounted, and no budget could hold it. */
export const TOKENS_MAX = 1_000_000_000

/** A count of tokens as somebody else says it; null where it is none that can be reckoned with. */
export function readTokens(value: unknown): number | null {
  const isCount = typeof value === 'number' && Number.isSafeInteger(value)
  return isCount && value >= 0 && value <= TOKENS_MAX ? value : null
}
