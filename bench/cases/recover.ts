import { bundle } from '../bundle.ts'
import { makeFolder, removeFolder } from '../disk.ts'
import { median } from '../rate.ts'
import { type BenchmarkCase, below, type Effort, type Measurements } from '../report.ts'
import { runWorker } from '../worker-process.ts'
import type { Start } from '../workers/recover.ts'

const GOAL_MS = 2_000
const GOAL_GROWTH = 2
const OPEN_AGENTS = 20

/** Time from opening a long journal to the first answer, in a fresh process. */
export const recovery: BenchmarkCase = {
  summary: 'cold start on a journal of a million events',
  measure,
}

/**
 * The processes are fresh; the system's cache of the files is not, because emptying it takes
 * rights that a benchmark should not have. Journals differ in age alone: the open work is equal.
 */
async function measure({ quick }: Effort): Promise<Measurements> {
  const file = bundle(new URL('../workers/recover.ts', import.meta.url))
  const [young, old] = quick ? [1_000, 10_000] : [100_000, 1_000_000]
  const starts = quick ? 1 : 5
  const folders = new Map([young, old].map((rows) => [rows, makeFolder('recover')]))
  try {
    for (const [rows, folder] of folders) {
      process.stderr.write(`making a journal of ${rows.toLocaleString('en-US')} rows\n`)
      await runWorker(file, ['fill', folder, String(rows), String(OPEN_AGENTS)])
      const stored = await runWorker<number>(file, ['count', folder])
      if (stored < rows * 0.98) throw new Error(`${stored} rows were made instead of ${rows}`)
    }
    const taken = new Map([...folders.keys()].map((rows) => [rows, [] as Taken[]]))
    for (let round = 0; round < starts; round += 1) {
      for (const [rows, folder] of folders) taken.get(rows)?.push(await startOnce(file, folder))
    }
    return summarise(taken, young, old)
  } finally {
    for (const folder of folders.values()) removeFolder(folder)
  }
}

interface Taken extends Start {
  readonly checkMs: number
}

/** The check is timed in a process of its own, where nothing has read the file before it either. */
async function startOnce(file: string, folder: string): Promise<Taken> {
  const start = await runWorker<Start>(file, ['start', folder])
  return { ...start, checkMs: await runWorker<number>(file, ['check', folder]) }
}

function summarise(
  taken: ReadonlyMap<number, readonly Taken[]>,
  young: number,
  old: number,
): Measurements {
  const figure = (rows: number, of: (taken: Taken) => number) =>
    median((taken.get(rows) ?? []).map(of))
  const answeredMs = (rows: number) => figure(rows, (start) => start.answeredMs)
  const checkMs = (rows: number) => figure(rows, (start) => start.checkMs)
  const rows = [...taken.keys()].flatMap((count) => {
    const subject = `${count.toLocaleString('en-US')} rows`
    const opening = figure(count, (start) => start.journalMs)
    const resuming = figure(count, (start) => start.runtimeMs - start.journalMs)
    const answering = figure(count, (start) => start.answeredMs - start.runtimeMs)
    return [
      { subject, metric: 'start to first answer', value: answeredMs(count), unit: 'ms' },
      { subject, metric: 'open the journal', value: opening, unit: 'ms' },
      { subject, metric: 'open the runtime', value: resuming, unit: 'ms' },
      { subject, metric: 'first answer', value: answering, unit: 'ms' },
      { subject, metric: 'quick_check alone', value: checkMs(count), unit: 'ms' },
    ]
  })
  const growth = answeredMs(old) / answeredMs(young)
  return {
    rows,
    goals: [
      below(`start on ${old.toLocaleString('en-US')} rows, ms`, GOAL_MS, answeredMs(old)),
      below('growth of the start with ten times the rows', GOAL_GROWTH, growth),
    ],
  }
}
