import { type Amounts, NO_AMOUNTS } from './amounts.ts'

/** The dearest that a model's tokens can be, in microdollars for a million of them. */
export interface PriceCard {
  readonly inputPerMillion: number
  readonly outputPerMillion: number
}

/** The most that so many tokens can cost, whatever they are of. */
export function mostOfSession(
  card: PriceCard | null,
  tokens: number,
  outputTokensMax: number,
): Amounts {
  const dearest = card && Math.max(card.inputPerMillion, card.outputPerMillion)
  const alike = dearest === null ? null : { inputPerMillion: dearest, outputPerMillion: dearest }
  return mostOf(alike, Math.max(0, tokens - outputTokensMax), outputTokensMax)
}

/** The most that one call can cost; without a card its price is unknown, which is not nothing. */
export function mostOf(
  card: PriceCard | null,
  inputTokens: number,
  outputTokensMax: number,
): Amounts {
  const tokens = { inputTokens, outputTokens: outputTokensMax }
  if (card === null) return { ...NO_AMOUNTS, iterations: 1, ...tokens, unpricedCalls: 1 }
  const { inputPerMillion, outputPerMillion } = card
  const cost = (inputTokens * inputPerMillion + outputTokensMax * outputPerMillion) / 1_000_000
  return { ...NO_AMOUNTS, iterations: 1, ...tokens, microdollars: Math.ceil(cost) }
}
