import type { Mind } from './assignment.ts'
import type { Thinking } from './stored-thinking.ts'

export const BYTES_PER_TOKEN = 3
/** No token has less; some models have one for each digit. Counted so before a provider has counted. */
export const BYTES_PER_TOKEN_MIN = 1

/** What the system prompt, the tools and the repository's instructions may have, before they are known. */
export const OPENING_TOKENS = 12_000

/** How full the window may be before the conversation is put into fewer words. */
const WINDOW_SHARE_MAX = 0.8

/** How full it may be with the request for that: what fills it is counted only about. */
const REQUEST_SHARE_MAX = 0.95

export function isNearWindow(mind: Mind, { tokens }: Thinking): boolean {
  return tokens > WINDOW_SHARE_MAX * roomOf(mind)
}

/** How long a request may be that is cut to fit: by what was counted, and by what was not taken. */
export function requestBytesMax(mind: Mind, thinking: Thinking): number {
  const { transcript, tokens, refusedBytes } = thinking
  const fitting =
    ((transcript?.bytes ?? 0) * REQUEST_SHARE_MAX * roomOf(mind)) / Math.max(1, tokens)
  return Math.floor(Math.min(fitting, (refusedBytes ?? Infinity) / 2))
}

/** After a request that was too long for the provider, whatever was counted before. */
export function overflown(mind: Mind, thinking: Thinking): Thinking {
  const bytes = thinking.transcript?.bytes ?? 0
  return { ...thinking, refusedBytes: Math.min(bytes, requestBytesMax(mind, thinking)) }
}

/** How many bytes a text has as UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}

function roomOf({ contextTokens, outputTokensMax }: Mind): number {
  return contextTokens - outputTokensMax
}
