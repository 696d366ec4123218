import type { Amounts } from './amounts.ts'

/** The most that may be used; what is absent is not limited. */
export interface Limits {
  readonly iterationsMax?: number
  /** Input and output together; what a cache served counts too. */
  readonly tokensMax?: number
  readonly microdollarsMax?: number
  readonly elapsedMsMax?: number
}

/** Which limit is in the way. */
export interface Exhausted {
  readonly scope: 'run' | 'story'
  readonly what: 'iterations' | 'tokens' | 'money' | 'time' | 'unpriced'
  readonly limit: number
  /** What it would have come to. */
  readonly wanted: number
}

/**
 * The first limit that a total goes over. A limit in money is also in the way of calls that may not
 * be made because nobody knows their price; those that were made before are not among them.
 */
export function firstExhausted(
  total: Amounts,
  limits: Limits,
  elapsedMs: number,
  refusedCalls: number,
): Omit<Exhausted, 'scope'> | undefined {
  const { iterationsMax, tokensMax, microdollarsMax, elapsedMsMax } = limits
  if (microdollarsMax !== undefined && refusedCalls > 0) {
    return { what: 'unpriced', limit: 0, wanted: refusedCalls }
  }
  const bounds = [
    ['iterations', iterationsMax, total.iterations],
    ['tokens', tokensMax, total.inputTokens + total.outputTokens],
    ['money', microdollarsMax, total.microdollars],
    ['time', elapsedMsMax, elapsedMs],
  ] as const
  for (const [what, limit, wanted] of bounds) {
    if (limit !== undefined && wanted > limit) return { what, limit, wanted }
  }
  return undefined
}
