import { type Amounts, addAmounts, areSound, NO_AMOUNTS, subtractAmounts } from './amounts.ts'
import { type Exhausted, firstExhausted, type Limits } from './limits.ts'

/** What one run or one story has used, and what is set aside for calls that are under way. */
export interface Account {
  readonly spent: Amounts
  readonly reserved: Amounts
  /** When the first call of a story was asked for. */
  readonly startedMs?: number
}

/** A call that has been paid for in advance. */
export interface Reservation {
  /** Null for what concerns no story, such as the review of a spec. */
  readonly story: string | null
  readonly amounts: Amounts
  /** When it was set aside. */
  readonly atMs: number
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
  /** `isLast` where another call like it would go over a limit. */
  | { readonly ok: true; readonly ledger: Ledger; readonly isLast: boolean }
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
): Reserving {
  const { story, amounts, atMs } = reservation
  if (!areSound(amounts)) throw new Error('an amount is a whole number and not negative')
  if (Object.hasOwn(ledger.reservations, id)) {
    return { ok: true, ledger, isLast: exhaustedBy(ledger, limits, reservation) !== undefined }
  }
  const exhausted = exhaustedBy(ledger, limits, reservation)
  if (exhausted !== undefined) return { ok: false, exhausted }
  const change = (account: Account) => ({
    ...account,
    reserved: addAmounts(account.reserved, amounts),
  })
  const reservations = { ...ledger.reservations, [id]: reservation }
  const after = { ...changed(ledger, story, atMs, change), reservations }
  return { ok: true, ledger: after, isLast: exhaustedBy(after, limits, reservation) !== undefined }
}

/** The first limit that one more call would go over. */
function exhaustedBy(
  ledger: Ledger,
  limits: LedgerLimits,
  { story, amounts, atMs }: Reservation,
): Exhausted | undefined {
  const { allowUnpriced } = limits
  const total = ({ spent, reserved }: Account) => addAmounts(addAmounts(spent, reserved), amounts)
  const elapsedMs = atMs - ledger.startedMs
  const ofRun = firstExhausted(total(ledger.run), limits.run, elapsedMs, allowUnpriced)
  if (ofRun !== undefined) return { scope: 'run', ...ofRun }
  if (story === null) return undefined
  const account = accountOf(ledger, story)
  const storyMs = atMs - (account.startedMs ?? atMs)
  const ofStory = firstExhausted(total(account), limits.story, storyMs, allowUnpriced)
  return ofStory && { scope: 'story', ...ofStory }
}

/** Books what a call really cost in the place of what was set aside; an unknown id changes nothing. */
export function settle(ledger: Ledger, id: string, actual: Amounts, nowMs: number): Ledger {
  if (!areSound(actual)) throw new Error('an amount is a whole number and not negative')
  const reservation = Object.hasOwn(ledger.reservations, id) ? ledger.reservations[id] : undefined
  if (reservation === undefined) return ledger
  const { story, amounts, atMs } = reservation
  // A clock may be set back.
  const elapsedMs = Math.max(0, nowMs - atMs)
  const change = ({ spent, reserved, ...account }: Account) => ({
    ...account,
    spent: addAmounts(spent, { ...actual, elapsedMs }),
    reserved: subtractAmounts(reserved, amounts),
  })
  const { [id]: _, ...reservations } = ledger.reservations
  return { ...changed(ledger, story, atMs, change), reservations }
}

/** The books of a story, empty ones where there is none yet. */
export function accountOf(ledger: Ledger, story: string): Account {
  return (Object.hasOwn(ledger.stories, story) ? ledger.stories[story] : undefined) ?? EMPTY
}

function changed(
  ledger: Ledger,
  story: string | null,
  startedMs: number,
  change: (account: Account) => Account,
): Ledger {
  const run = change(ledger.run)
  if (story === null) return { ...ledger, run }
  const account = change({ startedMs, ...accountOf(ledger, story) })
  return { ...ledger, run, stories: { ...ledger.stories, [story]: account } }
}
