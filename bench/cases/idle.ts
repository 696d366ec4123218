import { bundle } from '../bundle.ts'
import { makeFolder, removeFolder } from '../disk.ts'
import { median } from '../rate.ts'
import { type BenchmarkCase, below, type Effort, type Measurements } from '../report.ts'
import { runWorker } from '../worker-process.ts'
import type { IdleCost } from '../workers/idle.ts'

const GOAL_BYTES = 2_000
const GOAL_CPU_PERCENT = 1
const GOAL_WAKE_MS = 10

/** What ten thousand agents cost while each of them waits for a timer, and how fast one wakes. */
export const idleCost: BenchmarkCase = {
  summary: 'memory and processor of 10,000 waiting agents, and the time to wake one',
  measure,
}

async function measure({ quick }: Effort): Promise<Measurements> {
  const [agents, idleMs] = quick ? [1_000, 500] : [10_000, 5_000]
  const file = bundle(new URL('../workers/idle.ts', import.meta.url))
  const folder = makeFolder('idle')
  try {
    const args = [folder, String(agents), String(idleMs)]
    const cost = await runWorker<IdleCost>(file, args, ['--expose-gc'])
    return summarise(cost, agents)
  } finally {
    removeFolder(folder)
  }
}

function summarise(cost: IdleCost, agents: number): Measurements {
  const subject = `${agents.toLocaleString('en-US')} agents`
  const rss = cost.rssBytes / agents
  const growth = cost.growthBytes / agents
  const heap = cost.heapBytes / agents
  const cpuPercent = cost.cpuShare * 100
  const wakeMs = median(cost.wakesMs)
  return {
    rows: [
      { subject, metric: 'resident memory, each', value: rss, unit: 'B' },
      { subject, metric: 'growth since the start, each', value: growth, unit: 'B' },
      { subject, metric: 'heap, each', value: heap, unit: 'B' },
      { subject, metric: 'processor while idle', value: cpuPercent, unit: '% of a core' },
      { subject, metric: 'wake one, median', value: wakeMs, unit: 'ms' },
      { subject, metric: 'wake one, slowest', value: Math.max(...cost.wakesMs), unit: 'ms' },
    ],
    goals: [
      below('resident memory per agent, bytes', GOAL_BYTES, rss),
      below('heap per agent, bytes', GOAL_BYTES, heap),
      below('processor while idle, percent of a core', GOAL_CPU_PERCENT, cpuPercent),
      below('waking one, ms', GOAL_WAKE_MS, wakeMs),
    ],
  }
}
