import { type Clock, sleepUntil } from './clock.ts'
import { type Batch, type Journal, JournalError } from './journal.ts'

const RETRY_MS = 10
const RETRY_MS_MAX = 5_000

/**
 * Tries until the batch is durable. A busy or full disk is waited for, and `report` is told;
 * anything else, and the signal, end it with the journal's error.
 */
export async function commitDurably(
  journal: Journal,
  batch: Batch,
  clock: Clock,
  signal: AbortSignal,
  report: (error: string) => void,
): Promise<void> {
  for (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
    try {
      return await journal.commit(batch)
    } catch (error) {
      const mayPass = error instanceof JournalError && ['busy', 'full'].includes(error.fault)
      if (!mayPass || signal.aborted) throw error
      report(error.message)
      await sleepUntil(clock, clock.nowMs() + waitMs, signal)
    }
  }
}
