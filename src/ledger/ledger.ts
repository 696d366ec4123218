import { type Amounts, addAmounts, areSound, NO_AMOUNTS, subtractAmounts } from './amounts.ts'
import { type Exhausted, firstExhausted, type Limits } from './limits.ts'

/** What one run or one story has used, and what is set aside for calls that are under way. */
export interface Account {
  readonly spent: Amounts
  readonly reserved: Amounts
}

/** A call that has been paid for in advance. */
export interface Reservation {
  /** Null for what concerns no story, such as the review of a spec. */
  readonly story: string | null
  readonly amounts: Amounts
}

/** The books of one run. Plain data: it is stored with the agent that keeps it. */
export interface Ledger {
  readonly startedMs: number
  readonly run: Account
  readonly stories: Readonly<Record<string, Account>>
  readonly reservations: Readonly<Record<string, Reservation>>
}

export interface LedgerLimits {
  readonly run: Limits
  /** For each story. */
  readonly story: Limits
  /** Whether calls without a known price may be made although money is limited. */
  readonly allowUnpriced: boolean
}

const EMPTY: Account = { spent: NO_AMOUNTS, reserved: NO_AMOUNTS }

export function openLedger(startedMs: number): Ledger {
  return { startedMs, run: EMPTY, stories: {}, reservations: {} }
}

/** What was asked for: its place in the books, or the limit that it would go over. */
export type Reserving =
  | { readonly ok: true; readonly ledger: Ledger }
  | { readonly ok: false; readonly exhausted: Exhausted }

/**
 * Sets aside the most that a call can cost, before it is made. The same id again changes nothing,
 * so that a repeated call is paid for once.
 */
export function reserve(
  ledger: Ledger,
  limits: LedgerLimits,
  id: string,
  reservation: Reservation,
  nowMs: number,
): Reserving {
  const { story, amounts } = reservation
  if (!areSound(amounts)) throw new Error('an amount is a whole number and not negative')
  if (Object.hasOwn(ledger.reservations, id)) return { ok: true, ledger }
  const { allowUnpriced } = limits
  const elapsedMs = nowMs - ledger.startedMs
  const total = ({ spent, reserved }: Account) => addAmounts(addAmounts(spent, reserved), amounts)
  const ofRun = firstExhausted(total(ledger.run), limits.run, elapsedMs, allowUnpriced)
  if (ofRun !== undefined) return { ok: false, exhausted: { scope: 'run', ...ofRun } }
  if (story !== null) {
    // A story's time is what its coder may take of the run's, and is not counted here.
    const account = accountOf(ledger, story)
    const ofStory = firstExhausted(total(account), limits.story, 0, allowUnpriced)
    if (ofStory !== undefined) return { ok: false, exhausted: { scope: 'story', ...ofStory } }
  }
  const change = (account: Account) => ({
    ...account,
    reserved: addAmounts(account.reserved, amounts),
  })
  const reservations = { ...ledger.reservations, [id]: reservation }
  return { ok: true, ledger: { ...changed(ledger, story, change), reservations } }
}

/** Books what a call really cost in the place of what was set aside; an unknown id changes nothing. */
export function settle(ledger: Ledger, id: string, actual: Amounts): Ledger {
  if (!areSound(actual)) throw new Error('an amount is a whole number and not negative')
  const reservation = Object.hasOwn(ledger.reservations, id) ? ledger.reservations[id] : undefined
  if (reservation === undefined) return ledger
  const { story, amounts } = reservation
  const change = ({ spent, reserved }: Account) => ({
    spent: addAmounts(spent, actual),
    reserved: subtractAmounts(reserved, amounts),
  })
  const { [id]: _, ...reservations } = ledger.reservations
  return { ...changed(ledger, story, change), reservations }
}

/** The books of a story, empty ones where there is none yet. */
export function accountOf(ledger: Ledger, story: string): Account {
  return (Object.hasOwn(ledger.stories, story) ? ledger.stories[story] : undefined) ?? EMPTY
}

function changed(
  ledger: Ledger,
  story: string | null,
  change: (account: Account) => Account,
): Ledger {
  const run = change(ledger.run)
  if (story === null) return { ...ledger, run }
  const stories = { ...ledger.stories, [story]: change(accountOf(ledger, story)) }
  return { ...ledger, run, stories }
}
