import { readdirSync, readFileSync } from 'node:fs'
import type { CgroupLimits } from './cgroup.ts'

const GLANCE_MS = 10
const GLANCES_PER_LOOK = 10

/**
 * Looks at a process and its descendants ten times a second, and says once when they have more than
 * they may: for a machine that lets us make no groups. Returns what ends the watch.
 */
export function watchProcesses(
  root: number,
  limits: CgroupLimits,
  onExcess: () => void,
): () => void {
  const before = countTasks()
  let glances = 0
  const timer = setInterval(() => {
    glances += 1
    // A fork bomb makes thousands of processes in the time between two looks.
    const alarm = countTasks() - before > limits.processesMax
    if (!alarm && glances % GLANCES_PER_LOOK !== 0) return
    if (!isExcess(root, limits)) return
    clearInterval(timer)
    onExcess()
  }, GLANCE_MS)
  return () => clearInterval(timer)
}

/** How many tasks the whole machine has: one file, which is read in microseconds. */
function countTasks(): number {
  try {
    return Number(/\/(\d+) /.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

function isExcess(root: number, { processesMax, memoryBytesMax }: CgroupLimits): boolean {
  const processes = [root]
  let memoryBytes = 0
  // The list grows while it is walked, and a fork bomb grows faster: one too many is enough.
  for (const pid of processes) {
    processes.push(...childrenOf(pid))
    memoryBytes += memoryOf(pid)
    if (processes.length > processesMax || memoryBytes > memoryBytesMax) return true
  }
  return false
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
      const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
      return children.split(' ').filter(Boolean).map(Number)
    })
  } catch {
    // It has ended.
    return []
  }
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
