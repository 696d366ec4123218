import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { makeFolder, removeFolder } from '../disk.ts'
import { type BenchmarkCase, below, type Effort, type Measurements } from '../report.ts'
import { runStories } from '../subjects/fast-team.ts'

const CODERS = 50
const GOAL_GROWTH = 1.3

/** What it costs to bring a story through the team, by how many there are. */
export const dispatchCost: BenchmarkCase = {
  summary: 'a story through the whole team of 50 coders, with everything outside taking no time',
  measure,
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** What is kept once everything is collected that can be. */
async function heapMebibytes(): Promise<number> {
  for (let i = 0; i < 3; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    collectGarbage()
  }
  return process.memoryUsage().heapUsed / 2 ** 20
}

async function measure({ quick }: Effort): Promise<Measurements> {
  const sizes = quick ? [10, 20, 40] : [50, 500, 5_000]
  const rows = []
  const perStory: number[] = []
  // The first one warms the process up, and does not count.
  for (const [i, stories] of [sizes[0] ?? 10, ...sizes].entries()) {
    const folder = makeFolder('dispatch')
    try {
      const tookMs = await runStories(folder, stories, CODERS)
      if (i === 0) continue
      perStory.push(tookMs / stories)
      const subject = `${stories} stories`
      rows.push({ subject, metric: 'time a story', value: tookMs / stories, unit: 'ms' })
      const memory = await heapMebibytes()
      rows.push({ subject, metric: 'heap afterwards', value: memory, unit: 'MiB' })
    } finally {
      removeFolder(folder)
    }
  }
  const [, middle = Number.NaN, last = Number.NaN] = perStory
  const goal = `time a story, ${sizes[2]} stories beside ${sizes[1]}`
  return { rows, goals: [below(goal, GOAL_GROWTH, last / middle)] }
}
