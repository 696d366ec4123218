/** `npm run sim -- [--seeds N] [--from N] [--seed N] [--mutation NAME] [--json]` */
import { parseArgs } from 'node:util'
import { FAULTS } from './faults.ts'
import { MUTATIONS } from './mutations.ts'
import { type Outcome, simulate } from './simulate.ts'
import type { Mutation } from './world.ts'

const SEEDS = 100

interface Totals {
  seeds: number
  rows: number
  crashes: number
  halts: number
  failed: number[]
  readonly hits: Record<string, number>
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string' },
      from: { type: 'string' },
      seed: { type: 'string' },
      mutation: { type: 'string' },
      json: { type: 'boolean' },
    },
  })
  const count = values.seed === undefined ? Number(values.seeds ?? SEEDS) : 1
  const first = Number(values.seed ?? values.from ?? 1)
  const mutation = values.mutation === undefined ? {} : MUTATIONS[values.mutation]
  if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(first)) {
    throw new Error('--seeds, --from and --seed take whole numbers')
  }
  if (mutation === undefined) {
    throw new Error(`no such mutation; there are:\n  ${Object.keys(MUTATIONS).join('\n  ')}`)
  }
  return { first, count, mutation, single: values.seed !== undefined, json: values.json ?? false }
}

function printFailure(outcome: Outcome): void {
  process.stderr.write(
    [
      `seed ${outcome.seed} failed; the trace, time in ms first:`,
      ...outcome.trace,
      ...outcome.violations.map((violation) => `VIOLATED: ${violation}`),
      `again: npm run sim -- --seed ${outcome.seed}`,
      '',
    ].join('\n'),
  )
}

async function runSeeds(first: number, count: number, mutation: Mutation): Promise<Totals> {
  const hits = Object.fromEntries(Object.keys(FAULTS).map((fault) => [fault, 0]))
  const totals: Totals = { seeds: 0, rows: 0, crashes: 0, halts: 0, failed: [], hits }
  for (let seed = first; seed < first + count; seed += 1) {
    const outcome = await simulate(seed, mutation)
    totals.seeds += 1
    totals.rows += outcome.rows
    totals.crashes += outcome.crashes
    totals.halts += outcome.halts
    for (const [fault, n] of Object.entries(outcome.hits)) hits[fault] = (hits[fault] ?? 0) + n
    if (outcome.violations.length > 0) {
      if (totals.failed.length === 0) printFailure(outcome)
      totals.failed.push(seed)
    }
    if (process.stderr.isTTY) process.stderr.write(`\r${totals.seeds} of ${count} seeds`)
  }
  if (process.stderr.isTTY) process.stderr.write('\n')
  return totals
}

async function main(): Promise<number> {
  const { first, count, mutation, single, json } = readArguments()
  if (single) {
    const outcome = await simulate(first, mutation)
    if (outcome.violations.length > 0) printFailure(outcome)
    else process.stdout.write(`${outcome.trace.join('\n')}\n`)
    process.stdout.write(`seed ${first}, trace ${outcome.hash}\n`)
    return outcome.violations.length > 0 ? 1 : 0
  }
  const totals = await runSeeds(first, count, mutation)
  if (json) process.stdout.write(`${JSON.stringify(totals)}\n`)
  else {
    const hits = Object.entries(totals.hits).map(
      ([fault, n]) => `  ${String(n).padStart(7)} ${fault}`,
    )
    const { seeds, rows, crashes, halts, failed } = totals
    const verdict =
      failed.length === 0 ? 'none failed' : `${failed.length} FAILED: ${failed.join(', ')}`
    process.stdout.write(`faults injected:\n${hits.join('\n')}\n`)
    const size = `${seeds} seeds, ${rows} rows, ${crashes} crashes, ${halts} halts`
    process.stdout.write(`${size}, ${verdict}\n`)
  }
  return totals.failed.length > 0 ? 1 : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`sim: ${(error as Error).message}\n`)
  process.exitCode = 2
}
