import { readStatus } from '../../effects/process/process-table.ts'
import { EngineError } from './engine-error.ts'

const END_MS_MAX = 60_000
const POLL_MS = 100

/**
 * Has an engine end, by its process, and waits until it has. One that is gone by then has ended
 * too; one that stays is told of, since nobody could tell whose settings it works by.
 */
export async function endEngine(pid: number, waitMs = END_MS_MAX): Promise<void> {
  if (!isSent(pid, 'SIGTERM')) return
  const untilMs = Date.now() + waitMs
  while (isLiving(pid)) {
    if (Date.now() > untilMs) {
      throw new EngineError(
        `the engine that works by other keys or settings (process ${pid}) has not ended after ${waitMs / 1_000} s. Try again, or end it with kill -9 ${pid}: what it has under way is done again.`,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** Linux has a process that has ended take signals until somebody waits for it, as nobody may. */
function isLiving(pid: number): boolean {
  return isSent(pid, 0) && (process.platform !== 'linux' || readStatus(pid) !== undefined)
}

/** Whether there was such a process to send a signal to. */
function isSent(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}
