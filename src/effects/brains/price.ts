import type { ModelPrice } from '@pydantic/genai-prices'
import { mostOf, type PriceCard } from '../../ledger/price-card.ts'
import type { ApiProvider } from './api-model.ts'
import type { Usage } from './brain.ts'

/** What a user says a model costs, in dollars for a million tokens. */
export interface ConfiguredPrices {
  readonly input: number
  /** Input that the provider's cache served; as much as other input unless said. */
  readonly cached?: number
  /** Input that the provider put into its cache; as much as other input unless said. */
  readonly cacheWrite?: number
  readonly output: number
}

/** How large a call can become. */
export interface CallSize {
  readonly inputTokens: number
  readonly outputTokensMax: number
}

/** What is known about a price besides the names: what the user said, and when the call was. */
export interface PriceOptions {
  readonly configured?: ConfiguredPrices | undefined
  readonly nowMs?: number
}

/** A dollar for a million tokens is a millionth of a dollar for one. */
interface TokenPrices {
  readonly input: number
  readonly cached: number
  readonly cacheWrite: number
  readonly output: number
}

const FREE: TokenPrices = { input: 0, cached: 0, cacheWrite: 0, output: 0 }

const MILLION = 1_000_000

/** A provider's price may change while a call lasts. */
const CALL_MS_MAX = 3_600_000

/**
 * What a call has cost, in whole millionths of a dollar, rounded up. Undefined where nobody knows:
 * the model has no known price, or the provider did not say what was used.
 */
export async function priceOf(
  provider: ApiProvider,
  model: string,
  usage: Usage,
  { configured, nowMs = Date.now() }: PriceOptions = {},
): Promise<number | undefined> {
  const counts = Object.values(usage).filter((count) => count !== null)
  if (counts.some((count) => !Number.isFinite(count) || count < 0)) return undefined
  const { inputTokens, outputTokens } = usage
  if (inputTokens === null || outputTokens === null) return undefined
  const cached = usage.cachedTokens ?? 0
  const written = usage.cacheWriteTokens ?? 0
  // Who says more of the cache than of the input has not counted it there.
  const isBeside = cached + written > inputTokens
  const rest = isBeside ? inputTokens : inputTokens - cached - written
  const tier = tierAt(rest + cached + written)
  const prices = await findPrices({ provider, model, configured, nowMs }, tier)
  if (prices === undefined) return undefined
  // Of writes that a provider charges for and does not tell, nobody knows less than all.
  const isUntold = usage.cacheWriteTokens === null && prices.cacheWrite > prices.input
  return wholeMicrodollars(
    rest * (isUntold ? prices.cacheWrite : prices.input) +
      cached * prices.cached +
      written * prices.cacheWrite +
      outputTokens * prices.output,
  )
}

/**
 * The most that a call of this size can cost, in whole millionths of a dollar. Undefined where
 * nobody knows. Never less than `priceOf` of any call that stays within the size.
 */
export async function mostCostly(
  provider: ApiProvider,
  model: string,
  { inputTokens, outputTokensMax }: CallSize,
  options?: PriceOptions,
): Promise<number | undefined> {
  const card = await dearestPrices(provider, model, inputTokens, options)
  return card && mostOf(card, inputTokens, outputTokensMax).microdollars
}

/**
 * The dearest that tokens can be in calls with at most so much input: as if all of it were of the
 * dearest kind, at the dearest tier that it can reach. Undefined where nobody knows.
 */
export async function dearestPrices(
  provider: ApiProvider,
  model: string,
  inputTokensMax: number,
  { configured, nowMs = Date.now() }: PriceOptions = {},
): Promise<PriceCard | undefined> {
  const tier = dearestUpTo(inputTokensMax)
  const card = { inputPerMillion: 0, outputPerMillion: 0 }
  for (const at of [nowMs, nowMs + CALL_MS_MAX]) {
    const prices = await findPrices({ provider, model, configured, nowMs: at }, tier)
    if (prices === undefined) return undefined
    const { input, cached, cacheWrite, output } = prices
    const dearest = Math.max(input, cached, cacheWrite)
    card.inputPerMillion = Math.max(card.inputPerMillion, wholeMicrodollars(dearest * MILLION))
    card.outputPerMillion = Math.max(card.outputPerMillion, wholeMicrodollars(output * MILLION))
  }
  return card
}

type ListedPrice = Exclude<ModelPrice[string], undefined>
type Tier = (price: ListedPrice) => number

/** A price may depend on the size of the whole input. */
function tierAt(inputTokens: number): Tier {
  return (price) => {
    if (typeof price === 'number') return price
    const reached = price.tiers.filter(({ start }) => inputTokens > start)
    return reached.sort((a, b) => a.start - b.start).at(-1)?.price ?? price.base
  }
}

function dearestUpTo(inputTokens: number): Tier {
  return (price) => {
    if (typeof price === 'number') return price
    const reached = price.tiers.filter(({ start }) => inputTokens > start)
    return Math.max(price.base, ...reached.map((tier) => tier.price))
  }
}

interface PricedModel {
  readonly provider: ApiProvider
  readonly model: string
  readonly configured: ConfiguredPrices | undefined
  readonly nowMs: number
}

async function findPrices(
  { provider, model, configured, nowMs }: PricedModel,
  tier: Tier,
): Promise<TokenPrices | undefined> {
  if (configured !== undefined) {
    const { input, cached = input, cacheWrite = input, output } = configured
    return { input, cached, cacheWrite, output }
  }
  if (provider === 'ollama') return FREE
  // The same name may be another model behind another address, at another price.
  if (provider === 'openai-compatible') return undefined
  const listed = await findListed(provider, model, new Date(nowMs))
  return listed && readListed(listed, tier)
}

/** The list that comes with the package. It is never asked to bring a newer one. */
async function findListed(
  providerId: string,
  model: string,
  timestamp: Date,
): Promise<ModelPrice | undefined> {
  const { calcPrice } = await import('@pydantic/genai-prices')
  try {
    return calcPrice({}, model, { providerId, timestamp })?.model_price
  } catch {
    return undefined
  }
}

/** Only what text costs is read: nothing else is sent or asked for. */
function readListed(listed: ModelPrice, tier: Tier): TokenPrices | undefined {
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok, requests_kcount } = listed
  if (input_mtok === undefined || output_mtok === undefined) return undefined
  // Tokens alone do not tell what such a call costs.
  if (requests_kcount !== undefined) return undefined
  return {
    input: tier(input_mtok),
    cached: tier(cache_read_mtok ?? input_mtok),
    cacheWrite: tier(cache_write_mtok ?? input_mtok),
    output: tier(output_mtok),
  }
}

/** Rounds up, but not for what multiplying in binary has added. */
function wholeMicrodollars(amount: number): number {
  return Math.ceil(Number(amount.toFixed(6)))
}
