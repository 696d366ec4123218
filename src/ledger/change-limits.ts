import type { LedgerLimits } from './ledger.ts'

/** Limits that are to be other ones; what is absent stays. */
export interface LimitsChange {
  readonly run: LedgerLimits['run']
  readonly story: LedgerLimits['story']
  readonly allowUnpriced?: boolean
}

/**
 * The limits after a change. Who sets a limit in dollars keeps models without a price out, unless
 * somebody has said that they may be asked.
 */
export function changeLimits(before: LedgerLimits, change: LimitsChange): LedgerLimits {
  const limits = {
    run: { ...before.run, ...change.run },
    story: { ...before.story, ...change.story },
  }
  if (change.allowUnpriced !== undefined) {
    return { ...limits, allowUnpriced: change.allowUnpriced, isUnpricedChosen: true }
  }
  if (before.isUnpricedChosen) {
    return { ...limits, allowUnpriced: before.allowUnpriced, isUnpricedChosen: true }
  }
  const isInDollars = [change.run, change.story].some((one) => one.microdollarsMax !== undefined)
  return { ...limits, allowUnpriced: before.allowUnpriced && !isInDollars }
}
