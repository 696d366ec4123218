import type { Exhausted } from '../../ledger/limits.ts'
import { EXIT_CODE } from '../exit-code.ts'
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
  return `The budget of the ${who} is spent. It goes on after: slipway budget ${run}${option}`
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
export function unpricedNote({ unpriced }: RunView): string | undefined {
  if (unpriced.length === 0) return undefined
  return `Nobody knows the price of the model of ${unpriced.join(', ')}: its calls count as tokens, and no limit in dollars holds for them.`
}
