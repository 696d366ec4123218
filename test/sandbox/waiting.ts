import { readdirSync, readFileSync, statSync } from 'node:fs'
import { expect } from 'vitest'

/** The number of the shell that waits in a workspace for its command, or undefined. */
export function findSpare(workspace: string): number | undefined {
  const { dev, ino } = statSync(workspace)
  const pid = readdirSync('/proc').find((name) => {
    try {
      if (readFileSync(`/proc/${name}/cmdline`, 'latin1') !== 'sh\0') return false
      // Loaded, and with nothing left to do but to read.
      if (!/\) S /.test(readFileSync(`/proc/${name}/stat`, 'latin1'))) return false
      const folder = statSync(`/proc/${name}/cwd`)
      return folder.dev === dev && folder.ino === ino
    } catch {
      return false
    }
  })
  return pid === undefined ? undefined : Number(pid)
}

/** Waits until there is one. */
export async function waitForSpare(workspace: string): Promise<number> {
  await expect.poll(() => findSpare(workspace), { timeout: 10_000 }).toBeDefined()
  return findSpare(workspace) ?? 0
}

export function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1])
}
