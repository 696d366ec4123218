import type { Exhausted } from '../../ledger/limits.ts'
import { EXIT_CODE } from '../exit-code.ts'
import { printable } from '../printable.ts'
import type { RunView } from './run-view.ts'

/** The exit code that says how a run stands. */
export function exitCodeOf(view: RunView): number {
  switch (view.status) {
    case 'done':
      return EXIT_CODE.done
    case 'waiting':
      return isShort(view) ? EXIT_CODE.budget : EXIT_CODE.waiting
    case 'failed':
      if (view.budget.isSpent) return EXIT_CODE.budget
      return view.failure?.isOutage ? EXIT_CODE.provider : EXIT_CODE.failed
    default:
      return EXIT_CODE.interrupted
  }
}

/** Whether nothing becomes of a run any more. Whoever is halted may be revived, and it with them. */
export function isRunOver({ status, agents }: RunView): boolean {
  return (status === 'done' || status === 'failed') && !agents.some(({ isHalted }) => isHalted)
}

/** Why a run has failed, in one line; undefined where it has not. How a task ended is its own. */
export function failureReason(view: RunView): string | undefined {
  const { run, status, failure, isUnshown, agents, task } = view
  if (status !== 'failed') return undefined
  if (isUnshown) {
    return 'Every story is over, but not every criterion is shown: this counts as failed.'
  }
  if (failure !== null) {
    return printable(`No story was made of the spec: ${failure.reason.replace(/\s+/g, ' ')}.`)
  }
  const halted = agents.filter(({ isHalted }) => isHalted).map(({ id }) => id)
  if (halted.length > 0)
    return `Nothing goes on without those who are halted: ${halted.join(', ')}.`
  return task === null ? `Nothing can go on: slipway logs ${run} shows what happened.` : undefined
}

/** Whether more of a budget is all that is wanted. */
function isShort({ budget, questions }: RunView): boolean {
  const isAsked = questions.length > 0
  return budget.isSpent || (isAsked && questions.every(({ cause }) => cause !== null))
}

/** What to type about a budget that is spent; undefined where none is. */
export function budgetHint({ run, budget, questions }: RunView): string | undefined {
  const cause = questions.find((question) => question.cause !== null)?.cause ?? null
  if (cause === null && !budget.isSpent) return undefined
  const who = cause === null ? 'run' : cause.scope
  const option = cause === null ? '' : ` ${optionFor(cause)}`
  const why =
    cause?.what === 'unpriced'
      ? `Dollars of the ${who} are limited, and nobody knows the price of a model.`
      : `The budget of the ${who} is spent.`
  return `${why} It goes on after: slipway budget ${run}${option}`
}

const OPTIONS = {
  money: { name: 'dollars', unit: 1_000_000 },
  tokens: { name: 'tokens', unit: 1 },
  iterations: { name: 'iterations', unit: 1 },
  time: { name: 'hours', unit: 3_600_000 },
} as const

/** Twice as much as there was, for somebody to think about. */
function optionFor({ what, scope, limit }: Exhausted): string {
  if (what === 'unpriced') return '--allow-unpriced'
  const { name, unit } = OPTIONS[what]
  const more = Math.max(1, Math.ceil((2 * limit) / unit))
  return `--${scope === 'story' ? 'story-' : ''}${name} ${more}`
}

/** What to know about models whose price nobody knows; undefined where all are known. */
export function unpricedNote({ run, unpriced, budget }: RunView): string | undefined {
  if (unpriced.length === 0) return undefined
  const known = `Nobody knows the price of the model of ${unpriced.join(', ')}`
  return budget.limits?.allowUnpriced === false
    ? `${known}: with a limit in dollars it is not asked. It is after: slipway budget ${run} --allow-unpriced`
    : `${known}: its calls count as tokens, and no limit in dollars holds for them.`
}
