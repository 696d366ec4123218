import type { LimitsChange } from '../ledger/change-limits.ts'
import type { LedgerLimits } from '../ledger/ledger.ts'
import { layOut } from './columns.ts'
import { BUDGET } from './config/settings/schema.ts'
import { reachEngine } from './engine/reach.ts'
import { EXIT_CODE } from './exit-code.ts'
import { jsonText } from './json-text.ts'
import { findPlace, type StateOptions } from './state-folder.ts'
import { styleFor } from './style.ts'
import { columnsOf } from './terminal-size.ts'
import { UsageError } from './usage-error.ts'
import { chooseRun } from './view/open-source.ts'
import { readView } from './view/read-view.ts'
import { isRunOver, unpricedNote } from './view/run-end.ts'
import type { RunView } from './view/run-view.ts'

export interface BudgetOptions extends StateOptions {
  readonly dollars?: string
  readonly tokens?: string
  readonly iterations?: string
  readonly hours?: string
  readonly storyDollars?: string
  readonly storyTokens?: string
  readonly storyIterations?: string
  readonly storyHours?: string
  readonly allowUnpriced?: true
  readonly json?: true
}

const MICRODOLLARS = 1_000_000
const HOUR_MS = 3_600_000
/** How each limit is written, where somebody wrote it otherwise. */
const AMOUNTS = {
  dollars: 'an amount from 0 to 100000, such as 20',
  tokens: 'a whole number from 1 to 10^12, such as 2000000',
  iterations: 'a whole number from 1 to 10^9, such as 500',
  hours: 'a number from 0.01 to 8760, such as 12',
} as const

/** `slipway budget [run]`: what a run may spend and has spent; with options, other limits. */
export async function budget(name: string | undefined, options: BudgetOptions): Promise<number> {
  const change = readChange(options)
  const wanted = change === undefined ? 'look' : 'engine'
  const { source, run, close } = await chooseRun(name, options, wanted)
  const before = await readView(source, run).finally(close)
  if (change === undefined) {
    print(before, before.budget.limits, options)
    return EXIT_CODE.done
  }
  if (isClosed(before)) {
    print(before, before.budget.limits, options)
    process.stderr.write(`${run} is over (${before.status}): there is nothing to spend any more.\n`)
    return EXIT_CODE.done
  }
  const { root, stateFolder } = findPlace(options)
  const control = await reachEngine(root, stateFolder)
  const { limits, resumed } = await control.setBudget(run, change)
  print(before, limits, options)
  if (resumed > 0) process.stderr.write(`What had stopped for want of it goes on (${resumed}).\n`)
  return EXIT_CODE.done
}

/** What was spent may be wanted for a further spec, and what a task lacked for a follow-up. */
function isClosed(view: RunView): boolean {
  return isRunOver(view) && !view.budget.isSpent && (view.task === null || view.status === 'done')
}

function readChange(options: BudgetOptions): LimitsChange | undefined {
  const { allowUnpriced } = options
  const run = {
    ...limit('microdollarsMax', 'dollars', options.dollars, MICRODOLLARS),
    ...limit('tokensMax', 'tokens', options.tokens, 1),
    ...limit('iterationsMax', 'iterations', options.iterations, 1),
    ...limit('elapsedMsMax', 'hours', options.hours, HOUR_MS),
  }
  const story = {
    ...limit('microdollarsMax', 'story-dollars', options.storyDollars, MICRODOLLARS),
    ...limit('tokensMax', 'story-tokens', options.storyTokens, 1),
    ...limit('iterationsMax', 'story-iterations', options.storyIterations, 1),
    ...limit('elapsedMsMax', 'story-hours', options.storyHours, HOUR_MS),
  }
  const isChange = Object.keys({ ...run, ...story }).length > 0 || allowUnpriced !== undefined
  if (!isChange) return undefined
  return { run, story, ...(allowUnpriced !== undefined && { allowUnpriced }) }
}

function limit(key: string, option: string, text: string | undefined, unit: number) {
  if (text === undefined) return {}
  const name = option.replace('story-', '') as keyof typeof AMOUNTS
  const amount = BUDGET[name].safeParse(text.trim() === '' ? null : Number(text)).data
  if (amount === undefined) {
    throw new UsageError(`--${option} is ${AMOUNTS[name]}, and not ${JSON.stringify(text)}.`)
  }
  return { [key]: Math.round(amount * unit) }
}

function print(view: RunView, limits: LedgerLimits | null, { json }: BudgetOptions): void {
  const { run, spent, budget: books } = view
  if (json) {
    process.stdout.write(`${jsonText({ run, spent, limits, isSpent: books.isSpent })}\n`)
    return
  }
  const elapsedMs = books.startedMs === null ? 0 : (view.endedMs ?? Date.now()) - books.startedMs
  const figure = (value: number | undefined, unit = 1, digits = 0) =>
    value === undefined ? 'no limit' : (value / unit).toFixed(digits)
  const row = (name: string, used: string, key: keyof LedgerLimits['run'], ...unit: number[]) => [
    ...[name, used, figure(limits?.run[key], ...unit)],
    figure(limits?.story[key], ...unit),
  ]
  const rows = [
    ['', 'SPENT', 'LIMIT OF THE RUN', 'OF EACH STORY'],
    row('dollars', figure(spent.microdollars, MICRODOLLARS, 2), 'microdollarsMax', MICRODOLLARS, 2),
    row('tokens', figure(spent.inputTokens + spent.outputTokens), 'tokensMax'),
    row('iterations', figure(spent.iterations), 'iterationsMax'),
    row('hours', figure(elapsedMs, HOUR_MS, 2), 'elapsedMsMax', HOUR_MS, 2),
  ]
  const style = styleFor(process.stdout)
  const paints = [style.bold]
  process.stdout.write(`${layOut(rows, columnsOf(process.stdout, 100), paints)}\n`)
  const note = unpricedNote({ ...view, budget: { ...books, limits } })
  if (note !== undefined) process.stderr.write(`${note}\n`)
}
