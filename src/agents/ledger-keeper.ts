import { type Amounts, addAmounts, NO_AMOUNTS, subtractAmounts } from '../ledger/amounts.ts'
import {
  type Account,
  type Ledger,
  type LedgerLimits,
  type Reservation,
  type Reserving,
  reserve,
  reserveLast,
  reserveUpTo,
  settle,
} from '../ledger/ledger.ts'
import type { Exhausted } from '../ledger/limits.ts'
import { ledger1 } from '../machines/tables/ledger-1.ts'
import type { AgentEvent, AgentView, Decision, Message, Role } from './role.ts'
import type { AgentId, Json, JsonObject } from './values.ts'

/** From outside, before anything else, and again to raise it: what may be spent. */
export const OPEN_BOOKS = 'open_books'

/** What the keeper is asked for, and what it answers. A message about a call names its agent. */
export const RESERVE_SPENDING = 'reserve_spending'
export const SETTLE_SPENDING = 'settle_spending'
export const CLOSE_STORY = 'close_story'
export const SPENDING_GRANTED = 'spending_granted'
export const SPENDING_REFUSED = 'spending_refused'

/** Asks for the most that one call can cost. An agent has one call under way at a time. */
interface ReserveSpending {
  readonly agent: AgentId
  /** Comes back with the answer: one that was given up may still be answered. */
  readonly call: string
  readonly story: string | null
  readonly amounts: Amounts
  /** What it can make do with, where that is less. */
  readonly least?: Amounts
  /** What the call after it needs, where that is not the same. */
  readonly next?: Amounts
  /** What it can make do with if it is the last, before it is refused. */
  readonly last?: Amounts
}

/** Says what a call did cost. */
interface SettleSpending {
  readonly agent: AgentId
  readonly amounts: Amounts
}

/** Ends the books of a story; its total stays in the run's. */
interface CloseStory {
  readonly story: string
}

const EMPTY: Account = { spent: NO_AMOUNTS, reserved: NO_AMOUNTS }
/** Plain data, as it is stored. */
const asJson = (value: unknown) => value as Json

const UNLIMITED: LedgerLimits = { run: {}, story: {}, allowUnpriced: true }

/**
 * The role that keeps the books of a run. Asking and granting are messages between agents, so they
 * are part of the same commits as the call itself. Each story and each call has a key of its own in
 * the data, so that a row holds what changed and not all books.
 */
export const ledgerKeeper: Role = {
  name: 'ledger',
  machine: ledger1,
  recycles: false,
  initialData: { run: asJson(EMPTY) },
  handle,
}

function handle(agent: AgentView, event: AgentEvent): Decision {
  switch (event.type) {
    case OPEN_BOOKS:
      return openBooks(agent, event)
    case RESERVE_SPENDING:
      return takeReservation(agent, event)
    case SETTLE_SPENDING: {
      const { agent: owner, amounts } = read<SettleSpending>(event)
      const before = booksFor(agent, owner, undefined, event)
      return { set: changes(before, settle(before, owner, amounts, event.atMs), owner) }
    }
    case CLOSE_STORY:
      return closeStory(agent, event)
    default:
      return { reason: `not for a ledger: ${event.type}` }
  }
}

/** Limits may be set again, and what was spent counts against the new ones. */
function openBooks({ state }: AgentView, { payload }: AgentEvent): Decision {
  const set = { limits: payload }
  return state === 'SPENT' ? { set, move: { event: 'budget_granted', to: 'OPEN' } } : { set }
}

function takeReservation(agent: AgentView, event: AgentEvent): Decision {
  const limits = (agent.data.limits as unknown as LedgerLimits | undefined) ?? UNLIMITED
  const { agent: owner, call, story, ...wanted } = read<ReserveSpending>(event)
  const found = booksFor(agent, owner, story, event)
  // A call whose end nobody told, because its agent was restarted: it may have cost all of it.
  const lost = found.reservations[owner]
  const before = lost === undefined ? found : settle(found, owner, lost.amounts, event.atMs)
  const { amounts, least, next, last } = wanted
  const reservation = { story, amounts, atMs: event.atMs }
  const whole =
    least === undefined
      ? reserve(before, limits, owner, reservation, next)
      : reserveUpTo(before, limits, owner, reservation, least)
  const short =
    whole.ok || last === undefined
      ? undefined
      : reserveLast(before, limits, owner, reservation, last)
  const asked = short?.ok ? short : whole
  const answer: Message = asked.ok
    ? { to: owner, type: SPENDING_GRANTED, payload: leaveFor(call, asked, asked === short) }
    : { to: owner, type: SPENDING_REFUSED, payload: asJson({ call, exhausted: asked.exhausted }) }
  const after = asked.ok ? asked.ledger : before
  const decision = { set: changes(found, after, owner), send: [answer] }
  return !asked.ok && isRunSpent(asked.exhausted) && agent.state === 'OPEN'
    ? { ...decision, move: { event: 'budget_exhausted', to: 'SPENT' } }
    : decision
}

/** Where a call has no price, others that have one go on. */
function isRunSpent({ scope, what }: Exhausted): boolean {
  return scope === 'run' && what !== 'unpriced'
}

function leaveFor(
  call: string,
  { isLast, untilMs, amounts }: Reserving & { ok: true },
  isShort: boolean,
): Json {
  const end = untilMs !== undefined && { untilMs }
  return asJson({ call, isLast, amounts, ...(isShort && { isShort }), ...end })
}

/** Calls of the story that are still under way count as if they had cost all of it. */
function closeStory({ data }: AgentView, event: AgentEvent): Decision {
  const { story } = read<CloseStory>(event)
  const { reserved } = accountIn(data, story)
  const run = data.run as unknown as Account
  const open = Object.keys(data).filter(
    (key) =>
      key.startsWith('open:') && (data[key] as unknown as Reservation | null)?.story === story,
  )
  const set = {
    run: asJson({
      spent: addAmounts(run.spent, reserved),
      reserved: subtractAmounts(run.reserved, reserved),
    }),
    ...Object.fromEntries([...open, `story:${story}`].map((key) => [key, null])),
  }
  // Nobody waits for it.
  return { set }
}

/** The part of the books that one agent's call touches: its own story, and that of a lost call. */
function booksFor(
  { data }: AgentView,
  owner: AgentId,
  story: string | null | undefined,
  { atMs }: AgentEvent,
): Ledger {
  const open = data[`open:${owner}`] as unknown as Reservation | undefined
  const concerned = [story, open?.story].filter((id) => typeof id === 'string')
  return {
    startedMs: typeof data.startedMs === 'number' ? data.startedMs : atMs,
    run: data.run as unknown as Account,
    stories: Object.fromEntries(concerned.map((id) => [id, accountIn(data, id)])),
    reservations: open === undefined ? {} : { [owner]: open },
  }
}

function changes(before: Ledger, after: Ledger, owner: AgentId): JsonObject {
  const stories = Object.entries(after.stories)
    .filter(([id, account]) => before.stories[id] !== account)
    .map(([id, account]) => [`story:${id}`, asJson(account)])
  return {
    startedMs: after.startedMs,
    run: asJson(after.run),
    ...Object.fromEntries(stories),
    [`open:${owner}`]: asJson(after.reservations[owner] ?? null),
  }
}

function accountIn(data: JsonObject, story: string): Account {
  return (data[`story:${story}`] as unknown as Account | undefined) ?? EMPTY
}

const read = <T>(event: AgentEvent) => event.payload as unknown as T
