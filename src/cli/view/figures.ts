import type { Amounts } from '../../ledger/amounts.ts'

/** A time in the largest units that matter. */
export function printDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The furthest that a date can be. */
const TIME_MS_MAX = 8_640_000_000_000_000

/** A moment, to the minute, in words that mean the same everywhere. */
export function printTime(ms: number): string {
  const [day, time = ''] = new Date(Math.min(ms, TIME_MS_MAX)).toISOString().split('T')
  return `${day} ${time.slice(0, 5)} UTC`
}

/** Money and tokens; what has no known price is said to have none, and never to be free. */
export function printMoney({
  microdollars,
  unpricedCalls,
  inputTokens,
  outputTokens,
}: Amounts): string {
  const dollars = `$${(microdollars / 1_000_000).toFixed(2)}`
  const unpriced = unpricedCalls > 0 ? ` + ${unpricedCalls} calls of unknown price` : ''
  const tokens = printCount(inputTokens + outputTokens)
  return `${dollars}${unpriced} (${tokens} tokens)`
}

function printCount(count: number): string {
  if (count < 1_000) return String(count)
  if (count < 1_000_000) return `${(count / 1_000).toFixed(1)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}
