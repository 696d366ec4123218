import { type Amounts, halve, NO_AMOUNTS } from '../../ledger/amounts.ts'
import { mostOf } from '../../ledger/price-card.ts'
import type { Assignment, Mind } from './assignment.ts'
import type { Leave } from './leave.ts'
import type { Note, ThinkInput, Thought } from './outcomes.ts'
import {
  BYTES_PER_TOKEN,
  BYTES_PER_TOKEN_MIN,
  OPENING_TOKENS,
  requestBytesMax,
  utf8Bytes,
} from './room.ts'
import type { Thinking } from './stored-thinking.ts'
import { mostOfTurn } from './turn-cost.ts'

/** No request has less; with how much more one can make do is told by who cuts it. */
const TOKENS_MIN = 4_000

/** What frames what is said, and how a tool is asked for, may have. */
const FRAME_TOKENS = 1_000

/** What the ledger is asked for before a turn; what `next` and `last` are, its keeper says. */
export type Wanted = {
  readonly amounts: Amounts
  readonly least?: Amounts
  readonly next?: Amounts
  readonly last?: Amounts
}

export function wantedFor(mind: Mind, thinking: Thinking): Wanted {
  const { transcript, purpose, turn, short } = thinking
  const { price, outputTokensMax, sessionTokensMax } = mind
  const { amounts, least } = mostOfTurn(mind, mostOfRequest(thinking))
  // Only one turn may be short, however often it is tried: it has to end the state. What an agent
  // sends of itself nobody can cut.
  const isFirst = (short?.turn ?? turn) === turn
  const mayBeShort = sessionTokensMax === undefined && transcript !== null && isFirst
  return {
    amounts,
    ...(least && { least }),
    // A summary leaves half of a conversation or less.
    ...(purpose === 'summary' && { next: halve(amounts) }),
    ...(mayBeShort && { last: mostOf(price, short?.tokensMin ?? TOKENS_MIN, outputTokensMax) }),
  }
}

/**
 * How many tokens the next request has at the most: as many as its provider has counted, and one for
 * each byte that came since. What nobody has counted is one for each byte, with a guess of what
 * precedes the conversation; the guess is put right before anything is sent (`unasked`).
 */
function mostOfRequest({ transcript, tokens, most, notes }: Thinking): number {
  const bytes = transcript?.bytes ?? 0
  const said = notes.reduce((sum, note) => sum + mostOfNote(note), 0)
  if (most !== null) return most.tokens + Math.max(0, bytes - most.bytes) + said + FRAME_TOKENS
  const guessed = (tokens - OPENING_TOKENS) * BYTES_PER_TOKEN
  return OPENING_TOKENS + Math.ceil(Math.max(bytes, guessed) / BYTES_PER_TOKEN_MIN) + said
}

function mostOfNote({ text = '', failures = '' }: Note): number {
  return Math.ceil(utf8Bytes(text + failures) / BYTES_PER_TOKEN_MIN) + FRAME_TOKENS
}

/**
 * What a provider has counted of the conversation, which never becomes less: of one that counts less
 * than before, the greater count stays, with the bytes that it was of. The last turn may have been
 * asked for with less than all of it.
 */
export function countedIn(before: Thinking, { transcript, contextTokens, isUsageKnown }: Thought) {
  if (!isUsageKnown || transcript === null || before.isLast) return before.most
  // What was known before the first reply is a guess, and nobody has counted it.
  const counted = before.transcript === null ? null : before.most
  if (counted !== null && counted.tokens > contextTokens) return counted
  return { tokens: contextTokens, bytes: transcript.bytes }
}

/** A short turn that cannot be cut to what was set aside needs what its request has at the least. */
export function withSize(before: Thinking, contextTokens: number): Thinking {
  const { tokens, short } = before
  const tokensMin = Math.ceil((contextTokens * BYTES_PER_TOKEN) / BYTES_PER_TOKEN_MIN)
  const isFirst = before.transcript === null
  return {
    ...before,
    tokens: Math.max(tokens, contextTokens),
    most: isFirst ? { tokens: tokensMin, bytes: 0 } : before.most,
    short: short && { ...short, tokensMin: Math.max(short.tokensMin, tokensMin) },
  }
}

/**
 * What a brain is asked for with the ledger's leave, and how thinking goes on with that. The last
 * call that is granted is no summary: it ends the state, with as much of the conversation as fits.
 */
export function turnWith(
  { assignment, mind }: { readonly assignment: Assignment; readonly mind: Mind },
  before: Thinking,
  leave: Leave,
): { readonly thinking: Thinking; readonly input: ThinkInput } {
  const { turn, transcript, notes, setback, summaries, short } = before
  const { variables, turnsMax, ...rest } = assignment
  const isInstead = before.purpose === 'summary' && leave.isLast === true
  const purpose = isInstead ? 'turn' : before.purpose
  const isLast = leave.isLast === true || (purpose === 'turn' && turn >= turnsMax)
  const reserved = leave.amounts ?? before.reserved ?? NO_AMOUNTS
  const isCut = before.purpose === 'summary' || leave.isShort === true
  const input = {
    brain: mind.brain,
    ...rest,
    variables,
    transcript,
    notes: isLast && turnsMax > 1 ? [...notes, { name: 'last_turn' as const }] : notes,
    turn,
    outputTokensMax: mind.outputTokensMax,
    tokensReserved: { input: reserved.inputTokens, output: reserved.outputTokens },
    ...(leave.untilMs !== undefined && { untilMs: leave.untilMs }),
    isLast,
    ...(setback && { setback }),
    purpose,
    ...(isCut && lengthOf(mind, before, reserved)),
  } satisfies ThinkInput
  const thinking: Thinking = {
    ...before,
    isLast,
    purpose,
    reserved,
    summaries: isInstead ? summaries + 1 : summaries,
    short: leave.isShort === true ? (short ?? { turn, tokensMin: TOKENS_MIN }) : short,
  }
  return { thinking, input }
}

/** What is counted as a whole is enough for any part of it; of the rest a byte may be a token. */
function lengthOf(
  mind: Mind,
  thinking: Thinking,
  { inputTokens }: Amounts,
): Pick<ThinkInput, 'bytesMax' | 'isCounted'> {
  const bytesMax = requestBytesMax(mind, thinking)
  if (thinking.most !== null && inputTokens >= mostOfRequest(thinking)) {
    return { bytesMax, isCounted: true }
  }
  return { bytesMax: Math.min(bytesMax, inputTokens * BYTES_PER_TOKEN_MIN) }
}
