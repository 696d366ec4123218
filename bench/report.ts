import { arch, cpus, platform, release, totalmem } from 'node:os'
import { layOut } from '../src/cli/columns.ts'

/** One measured figure. */
interface Row {
  readonly subject: string
  readonly metric: string
  readonly value: number
  readonly unit: string
}

/** A figure that the product promises, and whether this run kept the promise. */
export interface Goal {
  readonly name: string
  readonly goal: string
  readonly value: number
  readonly met: boolean
}

/** What a case measured. */
export interface Measurements {
  readonly rows: readonly Row[]
  readonly goals: readonly Goal[]
  /** Versions of the peers that took part. */
  readonly versions?: Readonly<Record<string, string>>
}

/** How long and how often to measure. */
export interface Effort {
  /** A short run that shows that the benchmark works, not what the figures are. */
  readonly quick: boolean
}

/** A benchmark: measures subjects side by side, in this process or in others. */
export interface BenchmarkCase {
  readonly summary: string
  measure(effort: Effort): Promise<Measurements>
}

/** A goal that is met at `bound` and above. */
export function atLeast(name: string, bound: number, value: number): Goal {
  return { name, goal: `>= ${bound}`, value, met: value >= bound }
}

/** A goal that is met below `bound`. */
export function below(name: string, bound: number, value: number): Goal {
  return { name, goal: `< ${bound}`, value, met: value < bound }
}

/** The whole report of a run, in the shape that `--json` prints. */
export function reportOf(name: string, version: string, { rows, goals, versions }: Measurements) {
  return {
    name,
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGib: Math.round(totalmem() / 2 ** 30),
      os: `${platform()} ${release()} ${arch()}`,
    },
    versions: { slipway: version, node: process.versions.node, ...versions },
    rows,
    goals,
  }
}

/** The report as text for a terminal. */
export function drawReport(report: ReturnType<typeof reportOf>): string {
  const { machine, versions } = report
  const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  const rows = report.rows.map((row) => [row.subject, row.metric, format(row.value), row.unit])
  const goals = report.goals.map((goal) => [
    goal.met ? 'met' : 'MISSED',
    goal.name,
    goal.goal,
    format(goal.value),
  ])
  return [
    `${report.name}: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGib} GiB, ${software.join(', ')}`,
    layOut([['SUBJECT', 'METRIC', 'VALUE', 'UNIT'], ...rows], Infinity),
    layOut([['GOAL', 'NAME', 'BOUND', 'VALUE'], ...goals], Infinity),
  ].join('\n\n')
}

function format(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 2 : 0 })
}
