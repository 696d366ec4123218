import {
  BREAKAGES_MAX,
  type Note,
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
  Message,
  ToolCall,
  Turn,
  Usage,
} from '../brains/brain.ts'
import { FAILURE_POLICY } from '../brains/failure-policy.ts'
import { redact } from '../guards/redaction.ts'
import type { Tool } from '../tools/tool.ts'
import { definitionOf } from '../tools/tool-calls.ts'
import { type Toolbox, toolboxOf } from '../tools/toolbox.ts'
import type { Owner } from '../workspace/place.ts'
import { type CompactionWords, summedUp, toBeSummed } from './compaction.ts'
import { callKey, collectReply, type Reply } from './reply.ts'
import { asSpokenEnding } from './spoken-ending.ts'
import type { Conversation, Transcripts } from './transcript.ts'

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
export interface ThinkParts {
  readonly brains: Readonly<Record<string, NamedBrain>>
  readonly transcripts: Transcripts
  /** Tools of the user's own servers. */
  readonly furtherTools: readonly Tool[]
  /** What a task begins with: the system prompt and the first message. */
  openingOf(
    task: string,
    variables: Readonly<Record<string, string>>,
    folder: string | undefined,
  ): Promise<{ readonly system: string; readonly text: string }>
  /** The words of the loop itself. */
  wordsOf(note: Note, endsWith: readonly string[]): string
  readonly compaction: CompactionWords
  findFolder(owner: Owner): string | undefined
  /** Stores a workspace as it is. Never rejects: what cannot be stored is noticed by who needs it. */
  checkpoint(owner: Owner): Promise<void>
  /** Values that no model may see and nobody may store. */
  readonly secrets: readonly string[]
  readonly attemptsMax: number
  /** Told what a brain says as it says it, for those who watch. */
  readonly onEvent?: (effect: string, event: BrainEvent) => void
}

/** Starting git takes us milliseconds, in which no request leaves; no model answers sooner. */
const STORE_AFTER_MS = 10

/** Longer than the clocks of any brain: they end a turn, not this. */
const TIMEOUT_MS = 10_800_000

const SAID_CHARS_MAX = 500
const CALLS_MAX = 64
const BYTES_PER_TOKEN = 3

/** Carries out `think`: one turn of one brain. Its reply is kept before anybody acts on it. */
export function thinkHandler(parts: ThinkParts): EffectHandler {
  /** How often each effect was tried by this process. */
  const tries = new Map<string, number>()
  /** What tries cost that came to nothing. */
  const lost = new Map<string, Usage>()
  return {
    policy: { timeoutMs: TIMEOUT_MS, attemptsMax: parts.attemptsMax, outputBytesMax: 65_536 },
    serviceOf: ({ input }) => parts.brains[(input as unknown as ThinkInput).brain]?.service,
    async run({ id, input }, context) {
      const request = input as unknown as ThinkInput
      const named = parts.brains[request.brain]
      if (named === undefined) return failed('no_brain', `no brain ${request.brain}`, 'never')
      const attempt = (tries.get(id) ?? 0) + 1
      tries.set(id, attempt)
      const prepared = await prepare(parts, request, context)
      const begun = begin(parts, prepared, request, context)
      // Awaited after the turn; a rejection before that is nobody's yet.
      begun.catch(() => {})
      const turn = { ...prepared.turn, attempt }
      const work = workOf(parts, prepared.toolbox, request)
      // An agent with hands works from its first event on.
      if (named.isAgent) await work.store()
      const onEvent = parts.onEvent && ((event: BrainEvent) => parts.onEvent?.(id, event))
      // What the last turn did is stored while the next one is thought, and not before it is asked for.
      const soon = setTimeout(() => work.store(), STORE_AFTER_MS)
      const said = await collectReply(named.brain, turn, context.signal, onEvent)
      clearTimeout(soon)
      await work.store()
      if (named.isAgent) await workOf(parts, prepared.toolbox, request).store()
      const reply = checked(completed(said, prepared, request))
      const usage = usageOf(turn, reply)
      const spent = addUsage(usage, lost.get(id))
      // What has cost something is paid for, and asked for again, before it is tried again.
      const isPaidAgain = tokenCount(usage) > 0 && request.breakages < BREAKAGES_MAX
      const again = isPaidAgain
        ? abortOf(reply.failure)
        : retryOf(reply.failure, request, parts.secrets)
      if (again !== undefined) {
        lost.set(id, spent)
        return again
      }
      tries.delete(id)
      lost.delete(id)
      const transcript = await keep(parts, prepared, request, reply, await begun, context)
      const value: Thought = {
        ...describe(prepared.toolbox, reply, parts.secrets),
        transcript,
        contextTokens: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
        tokens: tokensOf(spent),
        isUsageKnown: reply.usage !== null || named.isAgent === undefined,
        microdollars: await named.priceOf(spent),
      }
      return { ok: true, value: value as unknown as Json }
    },
  }
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

const CALL_ID_CHARS_MAX = 200

function tokenCount({ inputTokens, outputTokens }: Usage): number {
  return (inputTokens ?? 0) + (outputTokens ?? 0)
}

/** A reply whose calls have ids that no row can hold is none. */
function checked(reply: Reply): Reply {
  if (reply.calls.every(({ id }) => id.length <= CALL_ID_CHARS_MAX)) return reply
  const failure = { kind: 'invalid_output', message: 'the id of a call is too long' } as const
  return { ...reply, calls: [], finish: 'failed', failure }
}

/** A reply as what the turn was for: a summary, or something to act on. */
function completed(said: Reply, { toolbox, turn }: Prepared, { purpose }: ThinkInput): Reply {
  return purpose === 'summary'
    ? asSummary(said)
    : asSpokenEnding(said, toolbox, turn.messages.length)
}

/** A summary that says nothing would lose everything. */
function asSummary(reply: Reply): Reply {
  if (reply.failure !== null || reply.text.trim() !== '') return { ...reply, calls: [] }
  const failure = { kind: 'invalid_output', message: 'the summary is empty' } as const
  return { ...reply, calls: [], finish: 'failed', failure }
}

interface Prepared {
  readonly turn: Turn
  readonly toolbox: Toolbox
  readonly conversation: Conversation
  /** What the model is told in this turn besides what was there before. */
  readonly told: readonly Message[]
}

async function prepare(
  parts: ThinkParts,
  request: ThinkInput,
  { blobs }: EffectContext,
): Promise<Prepared> {
  const { task, state, story, workspace, transcript, notes, turn: number, purpose } = request
  const toolbox = toolboxOf(task, { further: parts.furtherTools, withheld: request.withheld })
  const folder = workspace === null ? undefined : parts.findFolder(workspace)
  const conversation =
    transcript === null
      ? await open(parts, request, toolbox, folder, blobs)
      : await parts.transcripts.read(blobs, transcript)
  const words = notes.map((note) => parts.wordsOf(note, toolbox.endsWith))
  const told: Message[] =
    words.length === 0 || purpose === 'summary'
      ? []
      : [{ role: 'user', text: redact(words.join('\n\n'), parts.secrets) }]
  const isSummary = purpose === 'summary'
  const turn: Turn = {
    role: task.slice(0, task.indexOf('/')),
    task,
    state,
    story,
    number,
    system: conversation.system,
    messages: isSummary
      ? toBeSummed(conversation, parts.compaction)
      : [...conversation.messages, ...told],
    tools: conversation.tools,
    endsWith: isSummary ? [] : toolbox.endsWith,
    outputTokensMax: request.outputTokensMax,
    ...(request.isLast && { forcedTool: toolbox.endsWith[0] }),
    ...(isSummary && { isToolless: true as const }),
    ...(folder !== undefined && { workspace: { folder, access: toolbox.access } }),
  }
  return { turn, toolbox, conversation, told }
}

async function open(
  { openingOf, secrets }: ThinkParts,
  { task, variables }: ThinkInput,
  { tools }: Toolbox,
  folder: string | undefined,
  blobs: EffectContext['blobs'],
): Promise<Conversation> {
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(variables)) {
    values[name] =
      typeof value === 'string' ? value : Buffer.from(await blobs.get(value)).toString()
  }
  const { system, text } = await openingOf(task, values, folder)
  return {
    system: redact(system, secrets),
    tools: tools.map(definitionOf),
    messages: [{ role: 'user', text: redact(text, secrets) }],
  }
}

/** A turn that was given up is nobody's; anything else is for the agent to know. */
function abortOf(failure: BrainFailure | null): Attempt | undefined {
  return failure?.kind === 'aborted' ? failed('aborted', failure.message, 'later') : undefined
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
  if (policy === 'suspend') return isToldOfRefusal ? undefined : failed(kind, message, 'restored')
  if (policy !== 'retry_then_suspend') return undefined
  const error: AttemptError = { code: kind, message, retry: 'later' }
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
  const toolCalls = reply.calls.slice(0, CALLS_MAX).map((call) => cleanCall(call, secrets))
  const said: Message = {
    role: 'assistant',
    text,
    toolCalls,
    ...(mayKeep(reply.opaque, secrets) && { opaque: reply.opaque }),
  }
  return transcripts.add(blobs, begun, { messages: [...told, said] })
}

/**
 * Known secrets alone: what only looks like one may be what the model is to write. An input with one
 * in it is not mended but made unfit, so that the call is refused and not carried out otherwise.
 */
function cleanCall(call: ToolCall, secrets: readonly string[]): ToolCall {
  if (!holdsSecret(call.input, secrets)) return call
  return { ...call, input: 'an input with a secret in it, which is not kept and not carried out' }
}

/** What a provider wants back is signed: it is kept as it is, or not at all. */
function mayKeep(opaque: unknown, secrets: readonly string[]): boolean {
  return opaque !== undefined && !holdsSecret(opaque, secrets)
}

function holdsSecret(value: unknown, secrets: readonly string[]): boolean {
  const text = JSON.stringify(value) ?? ''
  return secrets.some((secret) => secret !== '' && text.includes(secret))
}

function describe({ tools }: Toolbox, reply: Reply, secrets: readonly string[]) {
  const { calls, finish, failure, model, text } = reply
  return {
    calls: calls.slice(0, CALLS_MAX).map((call) => ({
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
    model,
    said: redact(text, secrets).slice(0, SAID_CHARS_MAX),
  }
}

function tokensOf({ inputTokens, cachedTokens, outputTokens }: Usage): Thought['tokens'] {
  return { input: inputTokens ?? 0, cached: cachedTokens ?? 0, output: outputTokens ?? 0 }
}

/** What a turn used, as its provider says, or as its length suggests where that says nothing. */
function usageOf(turn: Turn, { usage, text, calls, failure }: Reply): Usage {
  const estimate = (value: unknown) =>
    Math.ceil(Buffer.byteLength(JSON.stringify(value)) / BYTES_PER_TOKEN)
  // A turn that said nothing before it failed has cost nothing that anybody knows of.
  const isUnknown = usage === null && failure !== null && text === ''
  return {
    inputTokens:
      usage?.inputTokens ?? (isUnknown ? 0 : estimate([turn.system, turn.tools, turn.messages])),
    cachedTokens: usage?.cachedTokens ?? 0,
    cacheWriteTokens: usage?.cacheWriteTokens ?? 0,
    outputTokens: usage?.outputTokens ?? (isUnknown ? 0 : estimate([text, calls])),
  }
}

function addUsage(a: Usage, b: Usage | undefined): Usage {
  const sum = (key: keyof Usage) => (a[key] ?? 0) + (b?.[key] ?? 0)
  return {
    inputTokens: sum('inputTokens'),
    cachedTokens: sum('cachedTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
    outputTokens: sum('outputTokens'),
  }
}

function failed(code: string, message: string, retry: AttemptError['retry']): Attempt {
  return { ok: false, error: { code, message: message.slice(0, 2_000), retry } }
}
