import { calcPrice } from '@pydantic/genai-prices'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ApiProvider } from './api-model.ts'
import type { Usage } from './brain.ts'
import { type ConfiguredPrices, dearestPrices, mostCostly, priceOf } from './price.ts'

const nowMs = Date.UTC(2026, 10, 15)

function usage(inputTokens: number, outputTokens: number, cached = 0, written = 0): Usage {
  return { inputTokens, outputTokens, cachedTokens: cached, cacheWriteTokens: written }
}

const LISTED: readonly (readonly [ApiProvider, string])[] = [
  ['anthropic', 'claude-haiku-4-5'],
  ['anthropic', 'claude-sonnet-4-5-20250929'],
  ['anthropic', 'claude-opus-4-1'],
  ['openai', 'gpt-5'],
  ['openai', 'gpt-5.6-luna'],
  ['openai', 'gpt-5.3-codex'],
  ['google', 'gemini-2.5-pro'],
  ['google', 'gemini-3-pro-preview'],
]

describe('a price', () => {
  test.each<[string, ApiProvider, string, Usage, number]>([
    // Dollars for a million tokens are microdollars for one.
    ['plain tokens', 'anthropic', 'claude-haiku-4-5', usage(1_000, 100), 1_000 + 500],
    ['cache reads', 'anthropic', 'claude-haiku-4-5', usage(1_000, 0, 900), 100 + 90],
    ['cache writes', 'anthropic', 'claude-haiku-4-5', usage(1_000, 0, 0, 800), 200 + 1_000],
    ['the lower tier', 'google', 'gemini-2.5-pro', usage(200_000, 10), 250_000 + 100],
    ['the upper tier', 'google', 'gemini-2.5-pro', usage(200_001, 10), 500_002.5 + 150],
    ['cache reads of the upper tier', 'google', 'gemini-2.5-pro', usage(400_000, 0, 400_000), 1e5],
    ['a part of a microdollar as a whole', 'google', 'gemini-2.5-pro', usage(1, 0), 2],
    ['nothing as nothing', 'openai', 'gpt-5', usage(0, 0), 0],
  ])('counts %s', async (_, provider, model, used, microdollars) => {
    expect(await priceOf(provider, model, used, { nowMs })).toBe(Math.ceil(microdollars))
  })

  test('is that of the day', async () => {
    const before = { nowMs: Date.UTC(2026, 6, 29) }
    const used = usage(1_000_000, 0)
    expect(await priceOf('openai', 'gpt-5.6-luna', used, before)).toBe(2_000_000)
    expect(await priceOf('openai', 'gpt-5.6-luna', used, { nowMs })).toBe(400_000)
  })

  test.each(LISTED)("of %s %s agrees with the list's own sum", async (provider, model) => {
    const part = fc.integer({ min: 0, max: 300_000 })
    await fc.assert(
      fc.asyncProperty(part, part, part, part, async (plain, cached, written, output) => {
        const input = plain + cached + written
        const sum = calcPrice(
          {
            input_tokens: input,
            cache_read_tokens: cached,
            cache_write_tokens: written,
            output_tokens: output,
          },
          model,
          { providerId: provider, timestamp: new Date(nowMs) },
        )
        const price = await priceOf(provider, model, usage(input, output, cached, written), {
          nowMs,
        })
        const exact = (sum?.total_price ?? Number.NaN) * 1e6
        expect((price ?? -1) - exact).toBeGreaterThan(-1e-3)
        expect((price ?? -1) - exact).toBeLessThan(1 + 1e-3)
      }),
      { numRuns: 100 },
    )
  })

  test.each<[string, ApiProvider, string, Usage]>([
    ['a model that nobody lists', 'anthropic', 'claude-of-tomorrow', usage(1, 1)],
    ['a model of another provider', 'anthropic', 'gpt-5', usage(1, 1)],
    ['an empty name', 'openai', '', usage(1, 1)],
    ['a model behind any address', 'openai-compatible', 'gpt-5', usage(1, 1)],
    ['input that is not told', 'openai', 'gpt-5', { ...usage(1, 1), inputTokens: null }],
    ['output that is not told', 'openai', 'gpt-5', { ...usage(1, 1), outputTokens: null }],
    ['a negative count', 'openai', 'gpt-5', usage(10, -1)],
  ])('is unknown for %s', async (_, provider, model, used) => {
    expect(await priceOf(provider, model, used, { nowMs })).toBeUndefined()
  })

  test('of writes that are charged for and not told is that of all the rest', async () => {
    const untold = { ...usage(1_000, 0, 200), cacheWriteTokens: null }
    expect(await priceOf('anthropic', 'claude-haiku-4-5', untold, { nowMs })).toBe(20 + 1_000)
    // Where writing costs nothing more, it does not matter.
    expect(await priceOf('google', 'gemini-2.5-pro', untold, { nowMs })).toBe(25 + 1_000)
  })

  test('of more cached or written than there was is that of both together', async () => {
    const price = (used: Usage) => priceOf('anthropic', 'claude-haiku-4-5', used, { nowMs })
    expect(await price(usage(1_000, 0, 1_000))).toBe(100)
    expect(await price(usage(1_000, 0, 1_010))).toBe(1_000 + 101)
    expect(await price(usage(1_000, 0, 0, 2_000))).toBe(1_000 + 2_500)
    expect(await price(usage(1_000, 0, 600, 600))).toBe(1_000 + 60 + 750)
    expect(await price({ ...usage(1_000, 0, 2_000), cacheWriteTokens: null })).toBe(1_250 + 200)
    // The tier is that of all.
    expect(await priceOf('google', 'gemini-2.5-pro', usage(1_000, 0, 200_000), { nowMs })).toBe(
      2_500 + 50_000,
    )
  })

  test('of a model on the own machine is nothing, and known', async () => {
    expect(await priceOf('ollama', 'anything', usage(1_000_000, 1_000))).toBe(0)
    expect(await mostCostly('ollama', 'x', { inputTokens: 9, outputTokensMax: 9 })).toBe(0)
  })

  test('is what the user says, for any provider', async () => {
    const configured: ConfiguredPrices = { input: 2, cached: 0.5, cacheWrite: 3, output: 8 }
    const used = usage(1_000, 10, 100, 200)
    const price = 700 * 2 + 100 * 0.5 + 200 * 3 + 80
    for (const provider of ['openai-compatible', 'openai', 'ollama'] as const) {
      expect(await priceOf(provider, 'x', used, { configured })).toBe(price)
    }
    const short = { configured: { input: 2, output: 8 } }
    expect(await priceOf('openai-compatible', 'x', used, short)).toBe(1_000 * 2 + 80)
  })
})

describe('the most that a call can cost', () => {
  test('counts all input as written to the cache where that is dearer', async () => {
    const size = { inputTokens: 1_000, outputTokensMax: 100 }
    expect(await mostCostly('anthropic', 'claude-haiku-4-5', size, { nowMs })).toBe(1_250 + 500)
    expect(await mostCostly('google', 'gemini-2.5-pro', size, { nowMs })).toBe(1_250 + 1_000)
  })

  test('counts a price that begins while the call lasts', async () => {
    const size = { inputTokens: 1_000_000, outputTokensMax: 0 }
    const midnight = Date.UTC(2026, 6, 30)
    const most = (at: number) => mostCostly('openai', 'gpt-5.6-luna', size, { nowMs: at })
    expect(await most(midnight - 60_000)).toBe(2_500_000)
    expect(await most(midnight)).toBe(500_000)
  })

  test.each(LISTED)('of %s %s is never less than what one did cost', async (provider, model) => {
    const size = fc.record({
      inputTokens: fc.integer({ min: 0, max: 400_000 }),
      outputTokensMax: fc.integer({ min: 0, max: 64_000 }),
    })
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    await fc.assert(
      fc.asyncProperty(size, fc.tuple(share, share, share, share), async (most, shares) => {
        const input = Math.floor(most.inputTokens * shares[0])
        const cached = Math.floor(input * shares[1])
        const written = Math.floor((input - cached) * shares[2])
        const output = Math.floor(most.outputTokensMax * shares[3])
        const price = await priceOf(provider, model, usage(input, output, cached, written), {
          nowMs,
        })
        const bound = await mostCostly(provider, model, most, { nowMs })
        expect(price).toBeLessThanOrEqual(bound ?? -1)
      }),
      { numRuns: 100 },
    )
  })

  test('is told for a million tokens, for those who reckon themselves', async () => {
    const card = (inputTokensMax: number) =>
      dearestPrices('google', 'gemini-2.5-pro', inputTokensMax, { nowMs })
    expect(await card(200_000)).toEqual({ inputPerMillion: 1.25e6, outputPerMillion: 10e6 })
    expect(await card(1_000_000)).toEqual({ inputPerMillion: 2.5e6, outputPerMillion: 15e6 })
    expect(await dearestPrices('anthropic', 'claude-of-tomorrow', 1)).toBeUndefined()
  })

  test('is unknown where the price is', async () => {
    const size = { inputTokens: 1, outputTokensMax: 1 }
    expect(await mostCostly('openai', 'gpt-of-tomorrow', size)).toBeUndefined()
    expect(await mostCostly('openai-compatible', 'gpt-5', size)).toBeUndefined()
    const configured = { input: 1, cacheWrite: 2, output: 3 }
    expect(await mostCostly('openai-compatible', 'x', size, { configured })).toBe(5)
  })
})
