import { setTimeout as sleep } from 'node:timers/promises'
import { FULL_DISK, fullDisk } from '../../journal/file-system.ts'
import type { Health, Runtime } from '../../runtime/runtime.ts'

const LOOK_MS = 500

/** What is waited for, in the words of what is missing; undefined where nothing is. */
export function waitOf(health: Health | null | undefined): string | undefined {
  const isWaiting = health?.state === 'waiting_for_journal' || health?.state === 'waiting_for_room'
  return isWaiting ? health.error : undefined
}

/** Whether nothing goes on because a disk is full. */
export function lacksRoom(health: Health | null | undefined): boolean {
  return waitOf(health)?.includes(FULL_DISK) ?? false
}

/** Waits for what a runtime is told, and not for room: nobody stays to see that there is some. */
export async function unlessFull<T>(
  runtime: Pick<Runtime, 'health'>,
  stateFolder: string,
  told: Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const watch = async () => {
    for (;;) {
      await sleep(LOOK_MS, undefined, over)
      if (lacksRoom(runtime.health())) throw fullDisk(stateFolder)
    }
  }
  return Promise.race([told, watch()]).finally(() => over.abort())
}
