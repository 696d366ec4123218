import { type Amounts, halve, NO_AMOUNTS } from '../../ledger/amounts.ts'
import { mostOf } from '../../ledger/price-card.ts'
import type { Assignment, Mind } from './assignment.ts'
import type { Leave } from './leave.ts'
import type { ThinkInput } from './outcomes.ts'
import { BYTES_PER_TOKEN, BYTES_PER_TOKEN_MIN, OPENING_TOKENS, requestBytesMax } from './room.ts'
import type { Thinking } from './stored-thinking.ts'
import { mostOfTurn } from './turn-cost.ts'

/** No request has less; with how much more one can make do is told by who cuts it. */
const TOKENS_MIN = 4_000

/** What the ledger is asked for before a turn; what `next` and `last` are, its keeper says. */
export type Wanted = {
  readonly amounts: Amounts
  readonly least?: Amounts
  readonly next?: Amounts
  readonly last?: Amounts
}

export function wantedFor(mind: Mind, thinking: Thinking): Wanted {
  const { transcript, tokens, purpose, turn, short } = thinking
  const { price, outputTokensMax, sessionTokensMax } = mind
  const bytes = Math.max(transcript?.bytes ?? 0, tokens * BYTES_PER_TOKEN)
  const inputTokens = OPENING_TOKENS + Math.ceil(bytes / BYTES_PER_TOKEN_MIN)
  const { amounts, least } = mostOfTurn(mind, inputTokens)
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

/** A short turn that cannot be cut to what was set aside needs what its request has at the least. */
export function withSize(before: Thinking, contextTokens: number): Thinking {
  const { tokens, short } = before
  const tokensMin = Math.ceil((contextTokens * BYTES_PER_TOKEN) / BYTES_PER_TOKEN_MIN)
  return {
    ...before,
    tokens: Math.max(tokens, contextTokens),
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
    ...(isCut && { bytesMax: bytesMaxOf(mind, before, reserved) }),
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

function bytesMaxOf(mind: Mind, thinking: Thinking, { inputTokens }: Amounts): number {
  return Math.min(requestBytesMax(mind, thinking), inputTokens * BYTES_PER_TOKEN_MIN)
}
