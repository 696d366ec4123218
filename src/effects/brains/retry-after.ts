import { NAMED_WAIT_MS_MAX } from '../../runtime/effect-handler.ts'
import { readResetMs } from './reset-time.ts'

/** Where a provider may say how long it wants to be left alone. */
export interface RetryAdvice {
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly message: string
  /** The details of a Google error. */
  readonly details: unknown
  /** What OpenRouter says beside its error. */
  readonly metadata: unknown
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** "try again in 6m0s", "retry after 36 seconds", "will reset after 14h38m2s". */
const WAIT =
  /\b(?:try again|retry|resets?) (?:in|after) ((?:\d+(?:\.\d+)? ?(?:ms|s|m|h|d|seconds?|minutes?|hours?|days?)\b,? ?)+|(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+)/i

/** From here on a number is a moment, in seconds or in milliseconds since 1970, and no wait. */
const MOMENT_S_MIN = 1e9
const MOMENT_MS_MIN = 1e12

/**
 * How long a provider asked to be left alone, up to 35 days; undefined when it did not say. Looks at
 * `retry-after-ms`, at `retry-after` in seconds, as a date or as a Unix time, at Google's RetryInfo,
 * at OpenRouter's time of a reset, and at last at a message that says "try again in 6m0s", "resets
 * 5:48pm (UTC)" or the like.
 */
export function readRetryAfterMs(advice: RetryAdvice, nowMs: number): number | undefined {
  const { headers, message, details, metadata } = advice
  return (
    readMs(headers['retry-after-ms'], nowMs) ??
    readHeader(headers['retry-after'], nowMs) ??
    readRetryInfo(details) ??
    readRouterReset(metadata, nowMs) ??
    readDuration(WAIT.exec(message)?.[1]) ??
    waitable(readResetMs(message, nowMs))
  )
}

function readMs(value: string | undefined, nowMs: number): number | undefined {
  if (!isSaid(value)) return undefined
  const ms = Number(value)
  return waitable(ms >= MOMENT_MS_MIN ? ms - nowMs : ms)
}

function readHeader(value: string | undefined, nowMs: number): number | undefined {
  if (!isSaid(value)) return undefined
  const seconds = Number(value)
  if (seconds >= MOMENT_MS_MIN) return waitable(seconds - nowMs)
  if (Number.isNaN(seconds)) return waitable(Date.parse(value) - nowMs)
  return waitable(seconds * 1_000 - (seconds >= MOMENT_S_MIN ? nowMs : 0))
}

/** A header without a value says nothing; as a number it would be 0. */
function isSaid(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== ''
}

function readRetryInfo(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined
  for (const detail of details) {
    if (typeof detail?.retryDelay === 'string') return readDuration(detail.retryDelay)
  }
  return undefined
}

/** OpenRouter quotes the header in its body. It holds the milliseconds since 1970. */
function readRouterReset(metadata: unknown, nowMs: number): number | undefined {
  const { headers } = (metadata ?? {}) as { readonly headers?: Readonly<Record<string, unknown>> }
  const reset = headers?.['X-RateLimit-Reset']
  const text = typeof reset === 'number' ? String(reset) : reset
  const isTime = typeof text === 'string' && /^\d{13}$/.test(text)
  return isTime ? waitable(Number(text) - nowMs) : undefined
}

function readDuration(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d/.test(text)) return undefined
  let totalMs = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?) ?(ms|[smhd])/gi)) {
    totalMs += Number(amount) * (UNIT_MS[unit?.toLowerCase() ?? ''] ?? 0)
  }
  return waitable(totalMs)
}

/** Zero counts: the provider says that it may be asked at once. */
function waitable(ms = Number.NaN): number | undefined {
  return ms >= 0 && ms <= NAMED_WAIT_MS_MAX ? Math.ceil(ms) : undefined
}
