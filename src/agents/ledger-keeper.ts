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
import {
  type AgentEvent,
  type AgentView,
  type Decision,
  type Message,
  type Role,
  TIMER_FIRED,
} from './role.ts'
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

/** A call that is not answered yet, because of others that are under way. */
type Waiting = ReserveSpending & { readonly sinceMs: number }

/** A key of the data for each call that something is set aside for, with the name of its agent. */
export const OPEN_CALL = 'open:'
/** The same for those who wait, and their names in order. */
const WAITING = 'waiting:'
const LINE = 'line'

/**
 * As long as the effect of any turn may take; an agent's own are ended after two hours. Who has set
 * something aside may be gone for good.
 */
const WAITING_MS_MAX = 3 * 3_600_000
const PATIENCE = 'patience'
/** A clock that strikes later than this was not watched: nobody was at work meanwhile. */
const LATE_MS_MAX = 60_000

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
    case SETTLE_SPENDING:
      return takeSettlement(agent, event)
    case CLOSE_STORY:
      return closeStory(agent, event)
    case TIMER_FIRED:
      return answerWaiting(agent, event, waitingAnew(agent, event))
    default:
      return { reason: `not for a ledger: ${event.type}` }
  }
}

/** Limits may be set again, and what was spent counts against the new ones. */
function openBooks(agent: AgentView, event: AgentEvent): Decision {
  const decision = answerWaiting(agent, event, { limits: event.payload })
  if (agent.state !== 'SPENT') return decision
  return { ...decision, move: { event: 'budget_granted', to: 'OPEN' } }
}

/** Whoever asks gets in line, and its answer at once where nobody has to be waited for. */
function takeReservation(agent: AgentView, event: AgentEvent): Decision {
  const asked = read<ReserveSpending>(event)
  const { agent: owner, story } = asked
  const found = booksFor(inData(agent, {}), owner, story, event)
  // A call whose end nobody told, because its agent was restarted: it may have cost all of it.
  const lost = found.reservations[owner]
  const before = lost === undefined ? found : settle(found, owner, lost.amounts, event.atMs)
  const set = changes(found, before, owner)
  const line = lineIn(inData(agent, set)).filter((one) => one !== owner)
  const waiting: Waiting = { ...asked, sinceMs: event.atMs }
  const joined = { [`${WAITING}${owner}`]: asJson(waiting), [LINE]: [...line, owner] }
  return answerWaiting(agent, event, { ...set, ...joined })
}

/** What is settled makes room for others; whoever has given its call up waits for nothing. */
function takeSettlement(agent: AgentView, event: AgentEvent): Decision {
  const { agent: owner, amounts } = read<SettleSpending>(event)
  const before = booksFor(inData(agent, {}), owner, undefined, event)
  const set = changes(before, settle(before, owner, amounts, event.atMs), owner)
  return answerWaiting(agent, event, { ...set, ...leaving(inData(agent, set), owner) })
}

/**
 * Answers those in line, the first one first, until one has to wait: what others have set aside is
 * not spent yet, and most of it never will be. So nobody is refused, and nobody told to come to an
 * end, because of a call that is still under way; unless it takes longer than anybody waits.
 */
function answerWaiting(agent: AgentView, event: AgentEvent, changed: JsonObject): Decision {
  let set = changed
  const send: Message[] = []
  let isSpent = false
  for (const owner of lineIn(inData(agent, changed))) {
    const look = inData(agent, set)
    const waiting = look(`${WAITING}${owner}`) as unknown as Waiting
    const asked = answerTo(look, waiting, event)
    if (asked === undefined) break
    const booked = asked.ok ? changes(asked.before, asked.ledger, owner) : {}
    set = { ...set, ...leaving(look, owner), ...booked }
    send.push(messageFor(waiting, asked))
    isSpent ||= !asked.ok && isRunSpent(asked.exhausted)
  }
  return {
    set: withoutTraces(agent, set),
    ...(send.length > 0 && { send }),
    ...patience(agent, inData(agent, set)),
    ...(isSpent &&
      agent.state === 'OPEN' && { move: { event: 'budget_exhausted' as const, to: 'SPENT' } }),
  }
}

/** Those who are waited for had no time in which nothing ran, so nobody has waited then. */
function waitingAnew(agent: AgentView, { atMs }: AgentEvent): JsonObject {
  const look = inData(agent, {})
  const line = lineIn(look).map((owner) => look(`${WAITING}${owner}`) as unknown as Waiting)
  const [first] = line
  if (first === undefined || atMs - first.sinceMs <= WAITING_MS_MAX + LATE_MS_MAX) return {}
  const anew = line.map((waiting) => [`${WAITING}${waiting.agent}`, { ...waiting, sinceMs: atMs }])
  return Object.fromEntries(anew)
}

function messageFor({ agent: to, call }: Waiting, asked: Answer): Message {
  if (asked.ok) return { to, type: SPENDING_GRANTED, payload: leaveFor(call, asked) }
  const { exhausted } = asked
  return { to, type: SPENDING_REFUSED, payload: asJson({ call, exhausted }) }
}

/** Who was answered at once has never been in line, and nothing is written of it. */
function withoutTraces({ data }: AgentView, set: JsonObject): JsonObject {
  const isTrace = (key: string, value: Json) =>
    value === null && data[key] === undefined && (key === LINE || key.startsWith(WAITING))
  return Object.fromEntries(Object.entries(set).filter(([key, value]) => !isTrace(key, value)))
}

/** The clock of the first in line. */
function patience({ data }: AgentView, look: Look): Pick<Decision, 'timers'> {
  const [first] = lineIn(look)
  if (first === undefined) return data[LINE] === undefined ? {} : { timers: { [PATIENCE]: null } }
  const { sinceMs } = look(`${WAITING}${first}`) as unknown as Waiting
  return { timers: { [PATIENCE]: sinceMs + WAITING_MS_MAX } }
}

type Answer =
  | (Reserving & { ok: true } & { readonly before: Ledger; readonly isShort: boolean })
  | (Reserving & { ok: false })

/** What a call is told now; undefined where it would be told better if others were done. */
function answerTo(look: Look, waiting: Waiting, event: AgentEvent): Answer | undefined {
  const { agent: owner, story, sinceMs } = waiting
  const limits = (look('limits') as unknown as LedgerLimits | undefined) ?? UNLIMITED
  const books = booksFor(look, owner, story, event)
  const now = reserveFor(books, limits, waiting, event)
  const isOver = event.type === TIMER_FIRED && event.atMs - sinceMs >= WAITING_MS_MAX
  if (worthOf(now) === PLAIN || isOver) return now
  const later = reserveFor(withoutReserved(books), limits, waiting, event)
  return worthOf(now) < worthOf(later) ? undefined : now
}

function reserveFor(
  before: Ledger,
  limits: LedgerLimits,
  { agent: owner, story, amounts, least, next, last }: Waiting,
  { atMs }: AgentEvent,
): Answer {
  const reservation = { story, amounts, atMs }
  const whole =
    least === undefined
      ? reserve(before, limits, owner, reservation, next)
      : reserveUpTo(before, limits, owner, reservation, least)
  if (whole.ok) return { ...whole, before, isShort: false }
  const short =
    last === undefined ? undefined : reserveLast(before, limits, owner, reservation, last)
  return short?.ok ? { ...short, before, isShort: true } : whole
}

const PLAIN = 2

/** A leave is worth more than a last one, and that more than none. */
function worthOf(answer: Answer): number {
  if (!answer.ok) return 0
  return answer.isLast ? 1 : PLAIN
}

/** The books as they are at best when all that is under way has ended. */
function withoutReserved(books: Ledger): Ledger {
  const without = (account: Account): Account => ({ ...account, reserved: NO_AMOUNTS })
  const stories = Object.entries(books.stories).map(([id, account]) => [id, without(account)])
  return { ...books, run: without(books.run), stories: Object.fromEntries(stories) }
}

/** Finds what the data has under a key. */
type Look = (key: string) => Json | undefined

/** The data as it is after some changes. */
function inData({ data }: AgentView, set: JsonObject): Look {
  return (key) => (Object.hasOwn(set, key) ? set[key] : data[key]) ?? undefined
}

/** Those in line, the first one first. */
function lineIn(look: Look): readonly AgentId[] {
  return (look(LINE) ?? []) as readonly AgentId[]
}

/** What takes somebody out of the line. */
function leaving(look: Look, owner: AgentId): JsonObject {
  const line = lineIn(look)
  if (!line.includes(owner)) return {}
  const rest = line.filter((one) => one !== owner)
  return { [LINE]: rest.length === 0 ? null : rest, [`${WAITING}${owner}`]: null }
}

/** Where a call has no price, others that have one go on. */
function isRunSpent({ scope, what }: Exhausted): boolean {
  return scope === 'run' && what !== 'unpriced'
}

function leaveFor(
  call: string,
  { isLast, untilMs, amounts, isShort }: Extract<Answer, { ok: true }>,
): Json {
  const end = untilMs !== undefined && { untilMs }
  return asJson({ call, isLast, amounts, ...(isShort && { isShort }), ...end })
}

/**
 * Calls of the story that are still under way count as if they had cost all of it. Who waits stays
 * in line: an architect that was asked about the story has to have an answer all the same.
 */
function closeStory(agent: AgentView, event: AgentEvent): Decision {
  const { data } = agent
  const { story } = read<CloseStory>(event)
  const { reserved } = accountIn(inData(agent, {}), story)
  const run = data.run as unknown as Account
  const isOfStory = (key: string) => (data[key] as unknown as Reservation).story === story
  const open = Object.keys(data).filter((key) => key.startsWith(OPEN_CALL) && isOfStory(key))
  const set = {
    run: asJson({
      spent: addAmounts(run.spent, reserved),
      reserved: subtractAmounts(run.reserved, reserved),
    }),
    ...Object.fromEntries([...open, `story:${story}`].map((key) => [key, null])),
  }
  return answerWaiting(agent, event, set)
}

/** The part of the books that one agent's call touches: its own story, and that of a lost call. */
function booksFor(
  look: Look,
  owner: AgentId,
  story: string | null | undefined,
  { atMs }: AgentEvent,
): Ledger {
  const open = look(`${OPEN_CALL}${owner}`) as unknown as Reservation | undefined
  const concerned = [story, open?.story].filter((id) => typeof id === 'string')
  return {
    startedMs: Number(look('startedMs') ?? atMs),
    run: look('run') as unknown as Account,
    stories: Object.fromEntries(concerned.map((id) => [id, accountIn(look, id)])),
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
    [`${OPEN_CALL}${owner}`]: asJson(after.reservations[owner] ?? null),
  }
}

function accountIn(look: Look, story: string): Account {
  return (look(`story:${story}`) as unknown as Account | undefined) ?? EMPTY
}

const read = <T>(event: AgentEvent) => event.payload as unknown as T
