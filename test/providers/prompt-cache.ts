import { createHash } from 'node:crypto'
import type { PromptBlock } from './wire.ts'

/** Providers cache no prefix that is shorter. */
const PREFIX_TOKENS_MIN = 1_024

/** How far Anthropic looks back from a mark for a prefix that it knows. */
const LOOKBACK_BLOCKS = 20

/** The mean of English and code. */
const CHARS_PER_TOKEN = 4

export interface CacheReport {
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  /** The longest beginning that an earlier request had too, whatever the request marks. */
  readonly commonTokens: number
}

interface Prefix {
  readonly hash: string
  readonly tokens: number
}

/**
 * Knows what earlier requests began with. A provider that caches by itself serves the longest
 * common prefix; one that caches by marks serves what was marked then and can be found now.
 */
export class PromptCache {
  readonly #byItself = new Set<string>()
  readonly #byMark = new Set<string>()

  /** Measures one request, and remembers it. */
  measure(scope: string, blocks: readonly PromptBlock[], isMarking: boolean): CacheReport {
    const prefixes = prefixesOf(scope, blocks)
    const common = longest(prefixes, (prefix) => this.#byItself.has(prefix.hash))
    const isMarked = (index: number) => blocks[index]?.isMarked === true
    const marks = prefixes.filter((_, index) => isMarked(index))
    const reachable = prefixes.filter((_, index) => {
      const ahead = Array.from({ length: LOOKBACK_BLOCKS }, (_, distance) => index + distance)
      return ahead.some(isMarked)
    })
    const marked = longest(reachable, (prefix) => this.#byMark.has(prefix.hash))
    const written = marks.at(-1)?.tokens ?? 0
    for (const { hash } of prefixes) this.#byItself.add(hash)
    for (const { hash, tokens } of marks) if (isLong(tokens)) this.#byMark.add(hash)
    const served = isMarking ? marked : common
    const cachedTokens = isLong(served) ? served : 0
    return {
      inputTokens: prefixes.at(-1)?.tokens ?? 0,
      cachedTokens,
      cacheWriteTokens: isMarking && isLong(written) ? Math.max(0, written - cachedTokens) : 0,
      commonTokens: common,
    }
  }
}

function prefixesOf(scope: string, blocks: readonly PromptBlock[]): Prefix[] {
  let hash = createHash('sha256').update(scope).digest('base64')
  let chars = 0
  return blocks.map(({ content }) => {
    hash = createHash('sha256').update(`${hash} ${content}`).digest('base64')
    chars += content.length
    return { hash, tokens: Math.ceil(chars / CHARS_PER_TOKEN) }
  })
}

function longest(prefixes: readonly Prefix[], isKnown: (prefix: Prefix) => boolean): number {
  return prefixes.findLast(isKnown)?.tokens ?? 0
}

function isLong(tokens: number): boolean {
  return tokens >= PREFIX_TOKENS_MIN
}
