import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from '../../scripts/shell.ts'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { makeFolder, removeFolder } from '../disk.ts'
import { median } from '../rate.ts'
import { type BenchmarkCase, below, type Effort, type Measurements } from '../report.ts'

const GOAL_S = 30
const ROUNDS = 5
const TIMEOUT_MS = 300_000

/** What a new user waits for: a whole run of the team, with everything real but the model. */
export const demoTime: BenchmarkCase = {
  summary: 'slipway demo, from its start to the evidence, in an empty home',
  measure,
}

async function measure({ quick }: Effort): Promise<Measurements> {
  const built = await run('npm', ['run', 'build'])
  if (built.exitCode !== 0) throw new Error(built.output)
  const seconds: number[] = []
  for (let round = 0; round < (quick ? 1 : ROUNDS); round += 1) seconds.push(await playDemo())
  const subject = 'slipway demo'
  const longest = Math.max(...seconds)
  return {
    rows: [
      { subject, metric: 'duration, median', value: median(seconds), unit: 's' },
      { subject, metric: 'duration, longest', value: longest, unit: 's' },
    ],
    goals: [below('the longest demo, s', GOAL_S, longest)],
  }
}

/** Plays it to its end, which has to be a good one. */
async function playDemo(): Promise<number> {
  const folder = makeFolder('demo')
  const home = join(folder, 'home')
  mkdirSync(home)
  const processes = openProcesses(folder)
  const startedMs = performance.now()
  const { exitCode, output } = await processes.run({
    argv: [process.execPath, resolve('dist/slipway.js'), 'demo'],
    cwd: folder,
    env: { HOME: home, TMPDIR: folder, PATH: process.env.PATH ?? '' },
    timeoutMs: TIMEOUT_MS,
    outputBytesMax: 100_000,
  })
  const seconds = (performance.now() - startedMs) / 1000
  await processes.close()
  removeFolder(folder)
  if (exitCode !== 0) throw new Error(`the demo ended with ${exitCode}: ${output}`)
  return seconds
}
