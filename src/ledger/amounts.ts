/** What thinking costs. All whole numbers; money in millionths of a dollar. */
export interface Amounts {
  /** Turns of a model. */
  readonly iterations: number
  readonly inputTokens: number
  /** Those of the input that a provider's cache served. */
  readonly cachedTokens: number
  readonly outputTokens: number
  /** What is known of the money; see `unpricedCalls`. */
  readonly microdollars: number
  /** Calls of models whose price nobody knows. */
  readonly unpricedCalls: number
  /** How long the turns took, one added to the other. */
  readonly elapsedMs: number
}

export const NO_AMOUNTS: Amounts = {
  iterations: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  microdollars: 0,
  unpricedCalls: 0,
  elapsedMs: 0,
}

const NAMES = Object.keys(NO_AMOUNTS) as readonly (keyof Amounts)[]

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (x, y) => x + y)
}

export function subtractAmounts(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (x, y) => x - y)
}

/** About half of it, in tokens and money. */
export function halve(amounts: Amounts): Amounts {
  const half = (amount: number) => Math.ceil(amount / 2)
  return {
    ...amounts,
    inputTokens: half(amounts.inputTokens),
    cachedTokens: half(amounts.cachedTokens),
    outputTokens: half(amounts.outputTokens),
    microdollars: half(amounts.microdollars),
  }
}

/** Whether these are whole numbers that are not negative. */
export function areSound(amounts: Amounts): boolean {
  return NAMES.every((name) => Number.isSafeInteger(amounts[name]) && amounts[name] >= 0)
}

function combine(a: Amounts, b: Amounts, of: (x: number, y: number) => number): Amounts {
  return {
    iterations: of(a.iterations, b.iterations),
    inputTokens: of(a.inputTokens, b.inputTokens),
    cachedTokens: of(a.cachedTokens, b.cachedTokens),
    outputTokens: of(a.outputTokens, b.outputTokens),
    microdollars: of(a.microdollars, b.microdollars),
    unpricedCalls: of(a.unpricedCalls, b.unpricedCalls),
    elapsedMs: of(a.elapsedMs, b.elapsedMs),
  }
}
