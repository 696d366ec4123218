/** The time, and being called when it has come. Injected, so that a simulation can own it. */
export interface Clock {
  nowMs(): number
  /** Calls back once the time has come, or a little later; the result cancels it. */
  wakeAt(timeMs: number, wake: () => void): () => void
}

// A system clock that is set forward is noticed after at most this long.
const SLEEP_MS_MAX = 30_000

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  wakeAt(timeMs, wake) {
    let timer: NodeJS.Timeout
    const sleep = () => {
      const restMs = timeMs - Date.now()
      timer = setTimeout(restMs <= SLEEP_MS_MAX ? wake : sleep, Math.min(restMs, SLEEP_MS_MAX))
    }
    sleep()
    return () => clearTimeout(timer)
  },
}

/** Resolves when the time has come, or at once when the signal is aborted. */
export function sleepUntil(clock: Clock, timeMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || timeMs <= clock.nowMs()) return Promise.resolve()
  return new Promise((resolve) => {
    const cancel = clock.wakeAt(timeMs, () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    const abort = () => {
      cancel()
      resolve()
    }
    signal.addEventListener('abort', abort, { once: true })
  })
}
