import { readFileSync } from 'node:fs'
import { readStatuses } from '../process/process-table.ts'
import type { CgroupLimits } from './cgroup.ts'

const WATCH_MS = 100

/**
 * Looks at a process and its descendants ten times a second, and says once when they have more than
 * they may: for a machine that lets us make no groups. Returns what ends the watch.
 */
export function watchProcesses(
  root: number,
  limits: CgroupLimits,
  onExcess: () => void,
): () => void {
  const timer = setInterval(() => {
    const processes = descendantsOf(root)
    const excess =
      processes.length > limits.processesMax ||
      processes.reduce((sum, pid) => sum + memoryOf(pid), 0) > limits.memoryBytesMax
    if (!excess) return
    clearInterval(timer)
    onExcess()
  }, WATCH_MS)
  return () => clearInterval(timer)
}

function descendantsOf(root: number): readonly number[] {
  const children = new Map<number, number[]>()
  for (const { pid, parent } of readStatuses()) {
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [pid])
    else siblings.push(pid)
  }
  const found = [root]
  // The list grows while it is walked.
  for (const pid of found) found.push(...(children.get(pid) ?? []))
  return found
}

/** Memory that is nobody else's; files that many have mapped are left out. */
function memoryOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const kilobytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)]
    return kilobytes.reduce((sum, [, value]) => sum + Number(value) * 1024, 0)
  } catch {
    return 0
  }
}
