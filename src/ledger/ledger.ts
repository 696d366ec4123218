import {
  type Amounts,
  addAmounts,
  areSound,
  halve,
  NO_AMOUNTS,
  subtractAmounts,
} from './amounts.ts'
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
  /** Whether somebody has said so, and it does not follow from who limited money. */
  readonly isUnpricedChosen?: true
}

const EMPTY: Account = { spent: NO_AMOUNTS, reserved: NO_AMOUNTS }

export function openLedger(startedMs: number): Ledger {
  return { startedMs, run: EMPTY, stories: {}, reservations: {} }
}

/** What was asked for: its place in the books, or the limit that it would go over. */
export type Reserving =
  | {
      readonly ok: true
      readonly ledger: Ledger
      /** What was set aside. */
      readonly amounts: Amounts
      /** Whether the next call would go over a limit. */
      readonly isLast: boolean
      /** When no more time is left, where that is limited. */
      readonly untilMs?: number
    }
  | { readonly ok: false; readonly exhausted: Exhausted }

/** No call has amounts that are not whole numbers: whoever asks for them asks for too much. */
const UNSOUND: Exhausted = {
  scope: 'run',
  what: 'tokens',
  limit: Number.MAX_SAFE_INTEGER,
  wanted: Number.MAX_SAFE_INTEGER,
}

/**
 * Sets aside what was asked for, or half of it, or half of that, and never less than `least`: the
 * most that leaves room for another of the least, or else the most that there is room for. For who
 * can make do with less, and is held to what it got.
 */
export function reserveUpTo(
  ledger: Ledger,
  limits: LedgerLimits,
  id: string,
  reservation: Reservation,
  least: Amounts,
): Reserving {
  if (!areSound(reservation.amounts) || !areSound(least)) return { ok: false, exhausted: UNSOUND }
  let fitting: Reserving | undefined
  for (const amounts of halves(reservation.amounts, least)) {
    const asked = reserve(ledger, limits, id, { ...reservation, amounts })
    if (!asked.ok) continue
    const next = exhaustedBy(asked.ledger, limits, { ...reservation, amounts: least })
    if (next === undefined) return { ...asked, isLast: false }
    fitting ??= { ...asked, isLast: true }
  }
  return fitting ?? reserve(ledger, limits, id, { ...reservation, amounts: least })
}

/**
 * Sets aside as much as there is room for of a call that a limit refuses, and never less than
 * `least`: for the last call, which is cut to what it got.
 */
export function reserveLast(
  ledger: Ledger,
  limits: LedgerLimits,
  id: string,
  reservation: Reservation,
  least: Amounts,
): Reserving {
  if (!areSound(reservation.amounts) || !areSound(least)) return { ok: false, exhausted: UNSOUND }
  for (const more of halvings(subtractAmounts(reservation.amounts, least))) {
    if (tokensOf(more) <= 1) break
    const amounts = addAmounts(least, more)
    const asked = reserve(ledger, limits, id, { ...reservation, amounts })
    if (asked.ok) return { ...asked, isLast: true }
  }
  const asked = reserve(ledger, limits, id, { ...reservation, amounts: least })
  return asked.ok ? { ...asked, isLast: true } : asked
}

/** Amounts from the most to the least, each half of the one before. */
function* halves(most: Amounts, least: Amounts): Generator<Amounts> {
  for (const amounts of halvings(most)) {
    if (tokensOf(amounts) <= tokensOf(least)) break
    yield amounts
  }
  yield least
}

/** Amounts, half of them, half of that, until halving changes nothing any more. */
function* halvings(most: Amounts): Generator<Amounts> {
  let [amounts, half] = [most, halve(most)]
  while (tokensOf(half) < tokensOf(amounts)) {
    yield amounts
    ;[amounts, half] = [half, halve(half)]
  }
  yield amounts
}

function tokensOf({ inputTokens, outputTokens }: Amounts): number {
  return inputTokens + outputTokens
}

/**
 * Sets aside the most that a call can cost, before it is made. The same id again changes nothing,
 * so that a repeated call is paid for once. The call after it is taken to be like it, unless `next`
 * says what that needs.
 */
export function reserve(
  ledger: Ledger,
  limits: LedgerLimits,
  id: string,
  reservation: Reservation,
  next: Amounts = reservation.amounts,
): Reserving {
  const { story, amounts, atMs } = reservation
  if (!areSound(amounts)) return { ok: false, exhausted: UNSOUND }
  const granted = (after: Ledger) => ({
    ok: true as const,
    ledger: after,
    amounts,
    isLast: exhaustedBy(after, limits, { ...reservation, amounts: next }) !== undefined,
    ...deadlineOf(after, limits, story, atMs),
  })
  if (Object.hasOwn(ledger.reservations, id)) return granted(ledger)
  const exhausted = exhaustedBy(ledger, limits, reservation)
  if (exhausted !== undefined) return { ok: false, exhausted }
  const change = (account: Account) => ({
    ...account,
    reserved: addAmounts(account.reserved, amounts),
  })
  const reservations = { ...ledger.reservations, [id]: reservation }
  return granted({ ...changed(ledger, story, atMs, change), reservations })
}

/** When the time of the run or of the story is over, whichever is first. */
function deadlineOf(
  ledger: Ledger,
  { run, story: each }: LedgerLimits,
  story: string | null,
  atMs: number,
): { readonly untilMs?: number } {
  const ofRun = ledger.startedMs + (run.elapsedMsMax ?? Infinity)
  const startedMs = (story === null ? undefined : accountOf(ledger, story).startedMs) ?? atMs
  const ofStory = story === null ? Infinity : startedMs + (each.elapsedMsMax ?? Infinity)
  const untilMs = Math.min(ofRun, ofStory)
  return Number.isFinite(untilMs) ? { untilMs } : {}
}

/** The first limit that one more call would go over. */
function exhaustedBy(
  ledger: Ledger,
  limits: LedgerLimits,
  { story, amounts, atMs }: Reservation,
): Exhausted | undefined {
  const refusedCalls = limits.allowUnpriced ? 0 : amounts.unpricedCalls
  const total = ({ spent, reserved }: Account) => addAmounts(addAmounts(spent, reserved), amounts)
  const elapsedMs = atMs - ledger.startedMs
  const ofRun = firstExhausted(total(ledger.run), limits.run, elapsedMs, refusedCalls)
  if (ofRun !== undefined) return { scope: 'run', ...ofRun }
  if (story === null) return undefined
  const account = accountOf(ledger, story)
  const storyMs = atMs - (account.startedMs ?? atMs)
  const ofStory = firstExhausted(total(account), limits.story, storyMs, refusedCalls)
  return ofStory && { scope: 'story', ...ofStory }
}

/**
 * Books what a call really cost in the place of what was set aside; an unknown id changes nothing.
 * What is no amount may have been all of it.
 */
export function settle(ledger: Ledger, id: string, cost: Amounts, nowMs: number): Ledger {
  const reservation = Object.hasOwn(ledger.reservations, id) ? ledger.reservations[id] : undefined
  if (reservation === undefined) return ledger
  const { story, amounts, atMs } = reservation
  const actual = areSound(cost) ? cost : amounts
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
