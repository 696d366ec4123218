import { type Amounts, NO_AMOUNTS } from '../../ledger/amounts.ts'
import { mostOf, mostOfSession } from '../../ledger/price-card.ts'
import { FAILURE, SUSPEND } from '../../machines/suspend.ts'
import { type AgentView, OUTAGE, type Outage } from '../role.ts'
import type { Mind } from './assignment.ts'
import type { Thought } from './outcomes.ts'

/** What is set aside for a turn before it begins, and with how much less one can make do. */
export function mostOfTurn(
  { price, outputTokensMax, sessionTokensMax }: Mind,
  inputTokens: number,
): { readonly amounts: Amounts; readonly least?: Amounts } {
  if (sessionTokensMax === undefined) {
    return { amounts: mostOf(price, inputTokens, outputTokensMax) }
  }
  const most = (tokens: number) => mostOfSession(price, tokens, outputTokensMax)
  const least = inputTokens + outputTokensMax
  return { amounts: most(Math.max(sessionTokensMax, least)), least: most(least) }
}

/**
 * What a turn did cost. Where nobody knows, it may have been all that was set aside; where its model
 * has a price and what it used has none, such as more from the cache than was sent, all of the money.
 */
export function spentOn(
  { tokens, microdollars, isUsageKnown }: Thought,
  most: Amounts | null,
): Amounts {
  if (!isUsageKnown && most !== null) return most
  const isPriced = microdollars !== null || most?.unpricedCalls === 0
  return {
    iterations: 1,
    inputTokens: tokens.input,
    cachedTokens: tokens.cached,
    outputTokens: tokens.output,
    microdollars: microdollars ?? most?.microdollars ?? 0,
    unpricedCalls: isPriced ? 0 : 1,
    // Counted by who keeps the books.
    elapsedMs: 0,
  }
}

/**
 * What a turn has cost that is given up: all that was set aside where a reply may be under way, and
 * nothing where no model was asked, or where the last that is known of it is an outage's failure:
 * one that may have cost something would have been paid for by then.
 */
export function spentOnAbandoned(
  { state, data }: AgentView,
  awaits: string | null,
  most: Amounts,
): Amounts {
  if (awaits === 'ledger') return NO_AMOUNTS
  const outage = data[OUTAGE] as unknown as Outage | null | undefined
  const isOut = (state === SUSPEND || state === FAILURE) && outage != null
  return isOut ? NO_AMOUNTS : most
}
