import { readdirSync, readFileSync } from 'node:fs'
import type { CgroupLimits } from './cgroup.ts'
import { socketBytes, unnamedFileBytes } from './hidden-memory.ts'

const GLANCE_MS = 10
const LOOK_MS = 100
/** A look at many processes takes long, and may not take a fifth of our time. */
const REST_PER_LOOK = 4

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
  let nextMs = performance.now() + LOOK_MS
  const timer = setInterval(() => {
    // A fork bomb makes thousands of processes in the time between two looks.
    const alarm = countTasks() - before > limits.processesMax
    const startedMs = performance.now()
    if (!alarm && startedMs < nextMs) return
    const excess = isExcess(root, limits)
    const tookMs = performance.now() - startedMs
    nextMs = startedMs + Math.max(LOOK_MS, (1 + REST_PER_LOOK) * tookMs)
    if (!excess) return
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
  const seen = new Set<string>()
  let memoryBytes = socketBytes(root)
  // The list grows while it is walked, and a fork bomb grows faster: one too many is enough.
  for (const pid of processes) {
    processes.push(...childrenOf(pid))
    memoryBytes += memoryOf(pid) + unnamedFileBytes(pid, seen)
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
