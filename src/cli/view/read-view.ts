import { printable } from '../printable.ts'
import { gatherEvidence } from './evidence.ts'
import { isRunOver } from './run-end.ts'
import type { RunSource } from './run-source.ts'
import { type RunView, viewRun } from './run-view.ts'

/** A run as it is now. */
export async function readView(source: RunSource, run: string): Promise<RunView> {
  const [runs, agents, effects, lastMs] = await Promise.all([
    source.runs(),
    source.agents(run),
    source.effects(run),
    source.lastMs(run),
  ])
  const found = runs.find(({ id }) => id === run)
  if (found === undefined) throw new Error(`there is no run ${run}`)
  return viewRun(found, agents, effects, lastMs)
}

/** The same, and done only if the evidence shows it. */
export async function readJudgedView(source: RunSource, run: string): Promise<RunView> {
  const view = await readView(source, run)
  if (view.status !== 'done' || view.task !== null) return view
  const { isComplete } = await gatherEvidence(source, run)
  return isComplete ? view : { ...view, status: 'failed', isUnshown: true }
}

/** A run beside the one that somebody looks at. */
export interface OtherRun {
  readonly run: string
  readonly status: RunView['status']
}

/** The other runs that something may still become of. A task that is stopped is given up. */
export async function readOthers(source: RunSource, run: string): Promise<readonly OtherRun[]> {
  const others = (await source.runs()).filter(({ id }) => id !== run)
  const views = await Promise.all(others.map(({ id }) => readView(source, id)))
  const isLeft = (view: RunView) =>
    !isRunOver(view) && (view.task === null || view.status !== 'stopped')
  return views.filter(isLeft).map(({ run, status }) => ({ run, status }))
}

/** The other runs in one line; undefined where there are none. */
export function othersLine(others: readonly OtherRun[]): string | undefined {
  if (others.length === 0) return undefined
  const named = others.map(({ run, status }) => `${printable(run)} (${status})`)
  return `Also: ${named.join(', ')}. slipway status <run> shows one.`
}

/** Whether somebody asks in another run while one is asked here. */
export async function asksElsewhere(
  source: RunSource,
  { run, questions }: RunView,
): Promise<boolean> {
  if (questions.length === 0) return false
  const others = (await source.runs()).filter(({ id }) => id !== run)
  const open = await Promise.all(others.map(({ id }) => source.effects(id)))
  return open.flat().some(({ kind }) => kind === 'ask_human')
}
