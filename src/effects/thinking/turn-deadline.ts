import type { BrainFailure } from '../brains/brain.ts'

/** The longest that a timer of Node waits; with more it does not wait at all. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** The clock of a turn whose run or story has no time after it. */
export interface TurnDeadline {
  /** Aborted with the turn's own signal, and when the time is over. */
  readonly signal: AbortSignal
  /** Why the turn ended, if it was the time. */
  readonly failure: BrainFailure | undefined
  clear(): void
}

export function setDeadline(signal: AbortSignal, untilMs: number | undefined): TurnDeadline {
  if (untilMs === undefined) return { signal, failure: undefined, clear: () => {} }
  const end = new AbortController()
  let failure: BrainFailure | undefined
  const abort = () => end.abort(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  const timeUp = () => {
    failure = { kind: 'timeout', message: 'the time of the run or of the story is over' }
    end.abort()
  }
  const restMs = Math.max(0, Math.min(untilMs - Date.now(), TIMER_MS_MAX))
  const timer = setTimeout(timeUp, restMs)
  return {
    signal: end.signal,
    get failure() {
      return failure
    },
    clear() {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    },
  }
}
