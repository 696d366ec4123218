import { setImmediate as nextRound } from 'node:timers/promises'
import {
  SETBACKS_MAX,
  type ThinkInput,
  type Thought,
  type Transcript,
} from '../../agents/thinking/outcomes.ts'
import type { Json } from '../../agents/values.ts'
import type {
  Attempt,
  AttemptError,
  EffectContext,
  EffectHandler,
} from '../../runtime/effect-handler.ts'
import type {
  Brain,
  BrainEvent,
  BrainFailure,
  FailureKind,
  Message,
  Turn,
  Usage,
} from '../brains/brain.ts'
import { cleanCall, mayKeep } from '../brains/clean-call.ts'
import { FAILURE_POLICY } from '../brains/failure-policy.ts'
import { redact } from '../guards/redaction.ts'
import type { Toolbox } from '../tools/toolbox.ts'
import type { Owner } from '../workspace/place.ts'
import { checkReply } from './check-reply.ts'
import { summedUp } from './compaction.ts'
import { type Prepared, prepareTurn, type TurnParts } from './prepare-turn.ts'
import { callKey, collectReply, type Reply } from './reply.ts'
import { asSpokenEnding } from './spoken-ending.ts'
import { setDeadline } from './turn-deadline.ts'
import { contextTokensOf, hasCost, NO_USAGE, sizeOf, tokensOf, usageOf } from './turn-usage.ts'

/** A brain under the name by which agents ask for it. */
export interface NamedBrain {
  readonly brain: Brain
  /** The service whose limits and outages it shares with others. */
  readonly service: string
  /** Present where it does not say what it used, because it asks its model as often as it likes. */
  readonly isAgent?: true
  /** What a turn cost, in microdollars; null where nobody knows. */
  priceOf(usage: Usage): Promise<number | null>
}

/** What the handler is given. */
export interface ThinkParts extends TurnParts {
  readonly brains: Readonly<Record<string, NamedBrain>>
  /** Stores a workspace as it is. Never rejects: what cannot be stored is noticed by who needs it. */
  checkpoint(owner: Owner): Promise<void>
  readonly attemptsMax: number
  /** Told what a brain says as it says it, for those who watch. */
  readonly onEvent?: (effect: string, event: BrainEvent) => void
}

/** Starting git takes us milliseconds, in which no request leaves; no model answers sooner. */
const STORE_AFTER_MS = 10

/** Longer than the clocks of any brain: they end a turn, not this. */
const TIMEOUT_MS = 10_800_000

const SAID_CHARS_MAX = 500

/** What a server calls its model may have any length, and a row has not. */
const MODEL_CHARS_MAX = 200

/** Carries out `think`: one turn of one brain. Its reply is kept before anybody acts on it. */
export function thinkHandler(parts: ThinkParts): EffectHandler {
  /** How often each effect was asked for by this process; 0 where it has only waited so far. */
  const asked = new Map<string, number>()
  /** Effects of which a try has cost something, and was given up. */
  const owing = new Set<string>()
  return {
    policy: { timeoutMs: TIMEOUT_MS, attemptsMax: parts.attemptsMax, outputBytesMax: 65_536 },
    serviceOf: ({ input }) => parts.brains[(input as unknown as ThinkInput).brain]?.service,
    /** What was given up, or an earlier process had begun, may have cost all that was set aside. */
    recall({ id, input, inherited }) {
      const isLost = owing.delete(id) || (inherited === 'working' && !asked.has(id))
      return isLost ? unanswered(input as unknown as ThinkInput, 'interrupted') : undefined
    },
    async run({ id, input, inherited }, context) {
      const request = input as unknown as ThinkInput
      const named = parts.brains[request.brain]
      if (named === undefined) return failed('no_brain', `no brain ${request.brain}`, 'never')
      const hasWaited = asked.has(id) || inherited === 'waiting'
      const wait = hasWaited ? undefined : waitAfter(request.setback)
      asked.set(id, asked.get(id) ?? 0)
      if (wait !== undefined) return wait
      if ((request.untilMs ?? Infinity) <= Date.now()) return unanswered(request, 'unasked')
      const prepared = await prepareTurn(parts, request, context)
      const isCut = request.bytesMax !== undefined && !request.isCounted
      const isOfUnknownSize = request.transcript === null || isCut
      const size = isOfUnknownSize ? sizeOf(prepared.turn) : undefined
      if (size !== undefined && size.most > request.tokensReserved.input && !named.isAgent) {
        return unanswered(request, 'unasked', size.about)
      }
      // To keep it takes about as long as to ask, and comes after that.
      const begun = nextRound().then(() => begin(parts, prepared, request, context))
      // Awaited after the turn; a rejection before that is nobody's yet.
      begun.catch(() => {})
      const count = (asked.get(id) ?? 0) + 1
      asked.set(id, count)
      const attempt = count + (request.setback?.tries ?? 0)
      const { turn, reply, isLate } = await hear(parts, named, prepared, {
        id,
        request,
        attempt,
        context,
      })
      const usage = usageOf(reply)
      // What has cost something is paid for, and asked for again, before it is tried again.
      const again = retryOf(reply.failure, request, parts.secrets)
      const isOver = isLate || (hasCost(usage) && reply.failure?.kind !== 'aborted')
      if (again !== undefined && !isOver) {
        if (hasCost(usage)) owing.add(id)
        return again
      }
      asked.delete(id)
      if (isLate) return unanswered(request, 'interrupted')
      const transcript = await keep(parts, prepared, request, reply, await begun, context)
      const value: Thought = {
        ...describe(prepared.toolbox, reply, parts.secrets),
        ...(again !== undefined && { failure: setbackOf(again, attempt) }),
        transcript,
        // What an agent used is of all its requests.
        contextTokens: contextTokensOf(turn, reply, named.isAgent ? null : usage),
        tokens: tokensOf(usage ?? NO_USAGE),
        isUsageKnown: usage !== null,
        microdollars: usage && (await named.priceOf(usage)),
      }
      return { ok: true, value: value as unknown as Json }
    },
  }
}

interface Try {
  readonly id: string
  readonly request: ThinkInput
  readonly attempt: number
  readonly context: EffectContext
}

/** Lets the brain think, and stores meanwhile what was done in the workspace before. */
async function hear(
  parts: ThinkParts,
  { brain, isAgent }: NamedBrain,
  prepared: Prepared,
  { id, request, attempt, context }: Try,
): Promise<{ readonly turn: Turn; readonly reply: Reply; readonly isLate: boolean }> {
  const { input, output } = request.tokensReserved
  const turn = { ...prepared.turn, attempt, ...(isAgent && { tokensMax: input + output }) }
  const work = workOf(parts, prepared.toolbox, request)
  // An agent with hands works from its first event on.
  if (isAgent) await work.store()
  const onEvent = parts.onEvent && ((event: BrainEvent) => parts.onEvent?.(id, event))
  // What the last turn did is stored while the next one is thought, and not before it is asked for.
  const soon = setTimeout(() => work.store(), STORE_AFTER_MS)
  const deadline = setDeadline(context.signal, request.untilMs)
  const heard = await collectReply(brain, turn, deadline.signal, onEvent)
  deadline.clear()
  clearTimeout(soon)
  await work.store()
  if (isAgent) await workOf(parts, prepared.toolbox, request).store()
  const late = heard.failure === null ? undefined : deadline.failure
  const said = late === undefined ? heard : { ...heard, failure: late, hasBegun: true }
  const reply = checkReply(completed(said, prepared, request), parts.secrets)
  return { turn, reply, isLate: late !== undefined }
}

/**
 * The outcome of a turn that has no reply, and has to be paid for again before it is asked for: it
 * was interrupted, and nobody knows what it has cost; or nobody was asked, since the request is
 * larger than what was set aside, or its time was over before it began.
 */
function unanswered(
  { transcript, brain }: ThinkInput,
  kind: 'interrupted' | 'unasked',
  contextTokens = 0,
): Attempt {
  const value: Thought = {
    transcript,
    calls: [],
    finish: 'failed',
    failure: { kind, message: '' },
    contextTokens,
    tokens: tokensOf(NO_USAGE),
    isUsageKnown: false,
    microdollars: null,
    model: brain,
    said: '',
  }
  return { ok: true, value: value as unknown as Json }
}

/** What was done in the workspace so far; however often it is stored, it is stored once. */
function workOf(
  { checkpoint }: ThinkParts,
  { access }: Toolbox,
  { workspace, transcript }: ThinkInput,
): { store(): Promise<void> } {
  const isNew = access !== 'write' || workspace === null || transcript === null
  let stored: Promise<void> | undefined
  return {
    store() {
      stored ??= isNew ? Promise.resolve() : checkpoint(workspace)
      return stored
    },
  }
}

/** A reply as what the turn was for: a summary, or something to act on. */
function completed(said: Reply, { toolbox, turn }: Prepared, { purpose }: ThinkInput): Reply {
  return purpose === 'summary'
    ? asSummary(said)
    : asSpokenEnding(said, toolbox, turn.messages.length)
}

/** With a summary that says nothing everything would be lost, and with one cut off its end. */
function asSummary(reply: Reply): Reply {
  const isCutOff = reply.finish === 'length'
  if (reply.failure !== null || (reply.text.trim() !== '' && !isCutOff)) {
    return { ...reply, calls: [] }
  }
  const message = `the summary is ${isCutOff ? 'cut off' : 'empty'}`
  const failure = { kind: 'invalid_output', message } as const
  return { ...reply, calls: [], finish: 'failed', failure }
}

/** The failure of a try that has to be paid for before the next, which waits as it says. */
function setbackOf(again: Attempt, tries: number): Thought['failure'] {
  if (again.ok) return null
  const { code: kind, retryAfterMs } = again.error
  const message = again.error.message.slice(0, 2_000)
  // What is no finite number names no time.
  const isNamed = retryAfterMs !== undefined && Number.isFinite(retryAfterMs)
  const named = isNamed && { retryAtMs: Math.ceil(Date.now() + retryAfterMs) }
  const setback = { kind, message, tries, ...named }
  return { kind, message, setback }
}

/**
 * Fails as the try before has, so that its wait is kept; what fails too often is an outage. Undefined
 * when there is nothing to wait for any more.
 */
function waitAfter(setback: ThinkInput['setback']): Attempt | undefined {
  if (setback === undefined) return undefined
  const { kind, message, count, retryAtMs } = setback
  const isOutage = FAILURE_POLICY[kind as FailureKind] === 'suspend' || count >= SETBACKS_MAX
  const retry = isOutage ? 'restored' : 'later'
  const error: AttemptError = { code: kind, message, retry, failuresBefore: count - 1 }
  if (retryAtMs === undefined) return { ok: false, error }
  const retryAfterMs = retryAtMs - Date.now()
  if (retryAfterMs > 0) return { ok: false, error: { ...error, retryAfterMs } }
  return isOutage ? { ok: false, error } : undefined
}

/** Undefined when the turn came to something that the agent is to know, be it a failure. */
function retryOf(
  failure: BrainFailure | null,
  { isToldOfRefusal }: ThinkInput,
  secrets: readonly string[],
): Attempt | undefined {
  if (failure === null) return undefined
  const { kind, retryAfterMs } = failure
  const message = redact(failure.message, secrets)
  const policy = FAILURE_POLICY[kind]
  if (kind === 'aborted') return failed(kind, message, 'later')
  if (policy === 'suspend' && isToldOfRefusal) return undefined
  if (policy !== 'suspend' && policy !== 'retry_then_suspend') return undefined
  const retry = policy === 'suspend' ? 'restored' : 'later'
  const error: AttemptError = { code: kind, message, retry }
  return { ok: false, error: retryAfterMs === undefined ? error : { ...error, retryAfterMs } }
}

/** The conversation before this turn, kept while the model thinks. */
async function begin(
  { transcripts }: ThinkParts,
  { conversation }: Prepared,
  { transcript }: ThinkInput,
  { blobs }: EffectContext,
): Promise<Transcript> {
  const { system, tools, messages } = conversation
  const opening = { opening: { system, tools }, messages }
  return transcripts.settle(blobs, transcript ?? (await transcripts.add(blobs, null, opening)))
}

/** Keeps what was said; for a summary, the conversation that goes on with it. */
async function keep(
  { transcripts, secrets, compaction }: ThinkParts,
  { conversation, told }: Prepared,
  { purpose, transcript }: ThinkInput,
  reply: Reply,
  begun: Transcript,
  { blobs }: EffectContext,
): Promise<Transcript | null> {
  if (reply.failure !== null) return transcript
  const text = redact(reply.text, secrets)
  if (purpose === 'summary') {
    const { system, tools } = conversation
    const messages = summedUp(conversation, text, compaction)
    return transcripts.add(blobs, null, { opening: { system, tools }, messages })
  }
  const toolCalls = reply.calls.map((call) => cleanCall(call, secrets))
  const said: Message = {
    role: 'assistant',
    text,
    toolCalls,
    ...(mayKeep(reply.opaque, secrets) && { opaque: reply.opaque }),
  }
  return transcripts.add(blobs, begun, { messages: [...told, said] })
}

function describe({ tools }: Toolbox, reply: Reply, secrets: readonly string[]) {
  const { calls, finish, failure, model, text } = reply
  return {
    calls: calls.map((call) => ({
      id: call.id,
      name: call.name.slice(0, 100),
      // A tool that does not exist does nothing.
      isReadOnly: tools.find(({ name }) => name === call.name)?.isReadOnly ?? true,
      key: callKey(call),
    })),
    finish,
    failure: failure && {
      kind: failure.kind,
      message: redact(failure.message, secrets).slice(0, 2_000),
    },
    model: redact(model, secrets).slice(0, MODEL_CHARS_MAX),
    said: redact(text, secrets).slice(0, SAID_CHARS_MAX),
  }
}

function failed(code: string, message: string, retry: AttemptError['retry']): Attempt {
  return { ok: false, error: { code, message: message.slice(0, 2_000), retry } }
}
