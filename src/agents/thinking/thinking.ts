import { type Amounts, NO_AMOUNTS } from '../../ledger/amounts.ts'
import type { Exhausted } from '../../ledger/limits.ts'
import { RESERVE_SPENDING, SETTLE_SPENDING } from '../ledger-keeper.ts'
import {
  type AgentEvent,
  type AgentView,
  type Decision,
  effectIdOf,
  type FinishedEffect,
  finishedEffect,
  type Message,
} from '../role.ts'
import type { BlobRef, Json, JsonObject } from '../values.ts'
import type { Assignment, Mind } from './assignment.ts'
import { type Leave, leaveOf } from './leave.ts'
import type { Setback, Thought, ToolsUsed, Transcript, UseToolsInput } from './outcomes.ts'
import { remember, repetitiveAmong } from './repetition.ts'
import { BYTES_PER_TOKEN, isNearWindow, OPENING_TOKENS, overflown, utf8Bytes } from './room.ts'
import { storedThinking, type Thinking } from './stored-thinking.ts'
import { nextBatch } from './tool-batch.ts'
import { spentOn, spentOnAbandoned } from './turn-cost.ts'
import { countedIn, turnWith, wantedFor, withSize } from './turn-request.ts'

/** What was used up, and what a provider said about it. */
export interface Spent {
  readonly what: 'turns' | 'context' | Exhausted
  readonly said?: string
}

/** How thinking stands after an event. What `decision` holds has to be part of the role's own. */
export type ThinkingStep = { readonly thinking: Thinking; readonly decision: Decision } & (
  | { readonly kind: 'going' }
  /** A tool ended the state. */
  | { readonly kind: 'ended'; readonly tool: string; readonly input: Json }
  /** A bound is reached: turns, the window, or a limit of the ledger. */
  | ({ readonly kind: 'spent' } & Spent)
  /** Nothing but a row of the table helps: the model declined, or an effect failed for good. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
)

const SUMMARIES_MAX = 2

/** Tries of one turn that may cost something for nothing; each but the first waited before. */
const SETBACKS_IN_ALL_MAX = 10
const NOTES_MAX = 5

/** Who thinks about what; in a key of its own, so that it is not stored again with every turn. */
type ThinkingGround = { readonly assignment: Assignment; readonly mind: Mind }

/** An agent with its thinking, as the functions below pass it on. */
type Thinker = Pick<AgentView, 'id' | 'seq'> & ThinkingGround

/** Begins to think. The next event that concerns it is the ledger's answer. */
export function beginThinking(agent: AgentView, assignment: Assignment, mind: Mind): ThinkingStep {
  const bytes = Object.values(assignment.variables).reduce(
    (sum, value) => sum + (typeof value === 'string' ? utf8Bytes(value) : value.bytes),
    0,
  )
  const thinking: Thinking = {
    turn: 1,
    isLast: false,
    transcript: null,
    notes: [],
    awaits: null,
    call: '',
    purpose: 'turn',
    reserved: null,
    calls: [],
    reply: null,
    known: {},
    tokens: OPENING_TOKENS + Math.ceil(bytes / BYTES_PER_TOKEN),
    most: null,
    summaries: 0,
    refusedBytes: null,
    short: null,
    setback: null,
  }
  return grounded(askLedger({ ...agent, assignment, mind }, thinking, []), { assignment, mind })
}

/** Goes on with a conversation that a tool had ended, after somebody answered, or tests did. */
export function resumeThinking(
  agent: AgentView,
  message: string,
  turnsMax: number,
  failures = '',
): ThinkingStep {
  const { thinking: before, ground } = thinkingOf(agent)
  const assignment = { ...ground.assignment, turnsMax }
  const note = { name: 'message' as const, text: message, ...(failures !== '' && { failures }) }
  const notes = [...before.notes, note]
  const chars = message.length + failures.length
  // A character may be three bytes.
  const tokens = before.tokens + Math.ceil((chars * 3) / BYTES_PER_TOKEN)
  const anew = { turn: 1, calls: [], known: {}, short: null, setback: null }
  const thinking: Thinking = { ...before, ...anew, notes, tokens }
  const step = askForTurn({ ...agent, ...ground, assignment }, thinking, [])
  return grounded(step, { ...ground, assignment })
}

/** How many turns an assignment has left; what was asked and answered meanwhile counts as one. */
export function turnsLeft(agent: AgentView): number {
  const { thinking, ground } = thinkingOf(agent)
  return ground.assignment.turnsMax - thinking.turn
}

/** How many turns the conversation has had that is under way, or was last, and how many it has. */
export function turnsUsed(agent: AgentView): { readonly used: number; readonly most: number } {
  const { thinking, ground } = thinkingOf(agent)
  const { turnsMax: most } = ground.assignment
  return { used: Math.min(thinking.turn, most), most }
}

/** Goes on after an event; undefined when the event is not about the agent's thinking. */
export function continueThinking(agent: AgentView, event: AgentEvent): ThinkingStep | undefined {
  if (agent.data.thinking === undefined) return undefined
  const { thinking, ground } = thinkingOf(agent)
  const thinker = { ...agent, ...ground }
  if (thinking.awaits === 'ledger') {
    const leave = leaveOf(event)
    if (leave?.call !== thinking.call) return undefined
    if (leave.exhausted === undefined) return think(thinker, thinking, leave)
    return { ...rest(thinking), kind: 'spent', what: leave.exhausted }
  }
  const finished = finishedEffect(event)
  if (finished === undefined || finished.effect !== thinking.awaits) return undefined
  if (finished.kind !== 'think') return takeResults(thinker, thinking, finished)
  const step = takeThought(thinker, thinking, finished)
  // From here on the conversation has them, and they are not needed again.
  if (thinking.transcript !== null || step.thinking.transcript === null) return step
  return grounded(step, { ...ground, assignment: { ...ground.assignment, variables: {} } })
}

/** Gives a turn up that may be under way, because its state is left for another reason. */
export function abandonThinking(agent: AgentView): Decision {
  if (agent.data.thinking === undefined) return {}
  const { thinking, ground } = thinkingOf(agent)
  const { awaits, reserved } = thinking
  const cost = reserved && spentOnAbandoned(agent, awaits, reserved)
  const send = cost === null ? [] : [settling({ ...agent, ...ground }, cost)]
  const cancel = awaits === null || awaits === 'ledger' ? [] : [awaits]
  return { set: stored(rest(thinking).thinking), send, cancel }
}

function thinkingOf({ data }: AgentView): { thinking: Thinking; ground: ThinkingGround } {
  return { thinking: storedThinking(data), ground: data.ground as unknown as ThinkingGround }
}

function think(thinker: Thinker, before: Thinking, leave: Leave): ThinkingStep {
  const { thinking, input } = turnWith(thinker, before, leave)
  const effect = { kind: 'think' as const, input: input as unknown as Json }
  return going({ ...thinking, awaits: effectIdOf(thinker, 0) }, { effects: [effect] })
}

function takeThought(thinker: Thinker, before: Thinking, { result }: FinishedEffect): ThinkingStep {
  if (!result.ok) {
    // Nobody knows how much of it was spent: all that was set aside counts.
    const send = before.reserved === null ? [] : [settling(thinker, before.reserved)]
    return failed(before, result.error.code, result.error.message, send)
  }
  const thought = result.value as unknown as Thought
  // Nothing was asked of anybody.
  if (thought.failure?.kind === 'unasked') {
    const thinking = withSize(before, thought.contextTokens)
    return askLedger(thinker, thinking, [settling(thinker, NO_AMOUNTS)])
  }
  const send = [settling(thinker, spentOn(thought, before.reserved))]
  const thinking = { ...before, reserved: null }
  if (thought.failure?.kind === 'interrupted') return askLedger(thinker, thinking, send)
  const setback = thought.failure?.setback
  if (setback !== undefined) return takeSetback(thinker, thinking, setback, send)
  if (thinking.purpose === 'summary') return takeSummary(thinker, thinking, thought, send)
  if (thought.failure !== null) return takeFailure(thinker, thinking, thought.failure, send)
  return takeReply(thinker, thinking, thought, send)
}

function takeReply(
  thinker: Thinker,
  before: Thinking,
  thought: Thought,
  send: readonly Message[],
): ThinkingStep {
  const { transcript, calls, finish, contextTokens } = thought
  const thinking: Thinking = {
    ...before,
    transcript,
    notes: [],
    calls,
    reply: transcript && { sha256: transcript.tail.sha256, bytes: transcript.tail.bytes },
    // The last turn may have been asked for with less than all.
    tokens: before.isLast ? Math.max(before.tokens, contextTokens) : contextTokens,
    most: thinker.mind.sessionTokensMax === undefined ? countedIn(before, thought) : null,
    summaries: 0,
    refusedBytes: null,
    setback: null,
  }
  if (calls.length > 0) return useTools(thinker, thinking, send)
  const name = finish === 'length' ? ('cut_off' as const) : ('no_call' as const)
  return nextTurn(thinker, { ...thinking, notes: [{ name }] }, send)
}

/** Tried again, and paid for again, after the wait that its handler knows; but not without end. */
function takeSetback(
  thinker: Thinker,
  before: Thinking,
  setback: Setback,
  send: readonly Message[],
): ThinkingStep {
  const count = (before.setback?.count ?? 0) + 1
  if (count > SETBACKS_IN_ALL_MAX) return failed(before, setback.kind, setback.message, send)
  return askLedger(thinker, { ...before, setback: { ...setback, count } }, send)
}

function takeFailure(
  thinker: Thinker,
  before: Thinking,
  { kind, message }: NonNullable<Thought['failure']>,
  send: readonly Message[],
): ThinkingStep {
  if (kind === 'context_overflow') {
    const canShrink = partsOf(before) > 1 && before.summaries < SUMMARIES_MAX
    if (!canShrink) return spent(before, 'context', send, message)
    const thinking = overflown(thinker.mind, before)
    return askLedger(thinker, { ...thinking, purpose: 'summary', setback: null }, send)
  }
  if (kind !== 'invalid_output') return failed(before, kind, message, send)
  const notes = [...before.notes, { name: 'unusable' as const, text: message }].slice(-NOTES_MAX)
  return nextTurn(thinker, { ...before, notes }, send)
}

/** A summary that is no shorter than what it stands for would be asked for without end. */
function takeSummary(
  thinker: Thinker,
  before: Thinking,
  { transcript, failure }: Thought,
  send: readonly Message[],
): ThinkingStep {
  const bytes = transcript?.bytes ?? 0
  const isShorter = bytes < (before.transcript?.bytes ?? 0)
  const isAgain = failure !== null && before.summaries < SUMMARIES_MAX
  if (isAgain) {
    const isOverflow = failure.kind === 'context_overflow'
    const thinking = isOverflow ? overflown(thinker.mind, before) : before
    return askLedger(thinker, { ...thinking, summaries: before.summaries + 1 }, send)
  }
  if (failure !== null || !isShorter) return spent(before, 'context', send, failure?.message)
  const thinking: Thinking = {
    ...before,
    transcript,
    // What it read before it does not see any more. The turns of the state are the bound.
    known: {},
    tokens: Math.ceil(bytes / BYTES_PER_TOKEN),
    most: null,
    purpose: 'turn',
    setback: null,
    summaries: before.summaries + 1,
  }
  const isStillLong = isNearWindow(thinker.mind, thinking)
  return isStillLong ? spent(thinking, 'context', send) : askLedger(thinker, thinking, send)
}

function useTools(thinker: Thinker, before: Thinking, send: readonly Message[]): ThinkingStep {
  const { transcript, reply, calls, known } = before
  const { task, withheld, workspace } = thinker.assignment
  const batch = nextBatch(calls)
  const input = {
    task,
    withheld,
    workspace,
    transcript: transcript as Transcript,
    reply: reply as BlobRef,
    ids: batch.map(({ id }) => id),
    // Where there is but one turn, nothing could ever be done.
    isLast: before.isLast && thinker.assignment.turnsMax > 1,
    refused: repetitiveAmong(known, batch).map(({ id }) => id),
  } satisfies UseToolsInput
  const thinking = { ...before, awaits: effectIdOf(thinker, 0) }
  return going(thinking, { send, effects: [{ kind: 'use_tools', input }] })
}

function takeResults(thinker: Thinker, before: Thinking, { result }: FinishedEffect): ThinkingStep {
  if (!result.ok) return failed(before, result.error.code, result.error.message, [])
  const used = result.value as unknown as ToolsUsed
  const keys = new Map(before.calls.map(({ id, key }) => [id, key]))
  const answered = new Set(used.answers.map(({ id }) => id))
  const bytesMore = used.transcript.bytes - (before.transcript?.bytes ?? 0)
  const thinking: Thinking = {
    ...before,
    transcript: used.transcript,
    calls: before.calls.filter(({ id }) => !answered.has(id)),
    known: remember(before.known, keys, used),
    tokens: before.tokens + Math.ceil(bytesMore / BYTES_PER_TOKEN),
  }
  const ends = used.answers.find((answer) => answer.ends !== null)?.ends
  if (ends) return { ...rest(thinking), kind: 'ended', tool: ends.tool, input: ends.input }
  return thinking.calls.length > 0
    ? useTools(thinker, thinking, [])
    : nextTurn(thinker, thinking, [])
}

function nextTurn(thinker: Thinker, before: Thinking, send: readonly Message[]): ThinkingStep {
  if (before.turn >= thinker.assignment.turnsMax) return spent(before, 'turns', send)
  return askForTurn(thinker, { ...before, turn: before.turn + 1, setback: null }, send)
}

/** Where the window is nearly full, the conversation is put into fewer words before the turn. */
function askForTurn(thinker: Thinker, thinking: Thinking, send: readonly Message[]): ThinkingStep {
  const isLong = isNearWindow(thinker.mind, thinking) && partsOf(thinking) > 1
  return askLedger(thinker, { ...thinking, purpose: isLong ? 'summary' : 'turn' }, send)
}

/** Nothing is asked of a model before the most that it can cost is set aside. */
function askLedger(thinker: Thinker, before: Thinking, send: readonly Message[]): ThinkingStep {
  const { id: agent, mind, assignment } = thinker
  const wanted = wantedFor(mind, before)
  const call = effectIdOf(thinker, 0)
  const payload = { agent, call, story: assignment.story, ...wanted } as unknown as Json
  const thinking: Thinking = { ...before, awaits: 'ledger', call, reserved: wanted.amounts }
  const asking = { to: mind.ledger, type: RESERVE_SPENDING, payload }
  return going(thinking, { send: [...send, asking] })
}

function settling({ id: agent, mind }: Thinker, amounts: Amounts): Message {
  return { to: mind.ledger, type: SETTLE_SPENDING, payload: { agent, amounts: { ...amounts } } }
}

function going(thinking: Thinking, decision: Decision): ThinkingStep {
  return { kind: 'going', thinking, decision: { ...decision, set: stored(thinking) } }
}

function spent(
  thinking: Thinking,
  what: 'turns' | 'context',
  send: readonly Message[],
  said?: string,
): ThinkingStep {
  return { ...rest(thinking, send), kind: 'spent', what, ...(said && { said }) }
}

function failed(
  thinking: Thinking,
  code: string,
  message: string,
  send: readonly Message[],
): ThinkingStep {
  return { ...rest(thinking, send), kind: 'failed', code, message }
}

function rest(before: Thinking, send: readonly Message[] = []) {
  const thinking: Thinking = { ...before, awaits: null, reserved: null, purpose: 'turn' }
  return { thinking, decision: { set: stored(thinking), send } }
}

function stored(thinking: Thinking): JsonObject {
  return { thinking: thinking as unknown as Json }
}

function grounded(step: ThinkingStep, ground: ThinkingGround): ThinkingStep {
  const set = { ...step.decision.set, ground: ground as unknown as Json }
  return { ...step, decision: { ...step.decision, set } }
}

function partsOf({ transcript }: Thinking): number {
  return transcript?.parts ?? 0
}
