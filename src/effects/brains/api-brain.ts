import type { LanguageModelV3StreamPart } from '@ai-sdk/provider'
import { isNewEvent } from './anthropic-events.ts'
import { type ApiModelChoice, loadModel } from './api-model.ts'
import { toCallOptions } from './api-prompt.ts'
import { ReplyReader } from './api-reply.ts'
import {
  type Brain,
  type BrainEvent,
  type BrainFailure,
  type Turn,
  UNTOLD_USAGE,
  type Usage,
} from './brain.ts'
import { explainFailure } from './failure.ts'
import { hasOpaque, isOpaqueRefused, OpaqueMemory } from './opaque-memory.ts'
import { openProviderFetch } from './provider-fetch.ts'
import { ChoiceMemory, type ChoiceWay, isChoiceRefused, wayAfter } from './tool-choice.ts'
import { type TurnTimeouts, TurnWatch } from './turn-watch.ts'

export type ApiBrainOptions = ApiModelChoice & { readonly timeouts: TurnTimeouts }

/** One request: the turn, and how it is put. */
interface Request {
  readonly turn: Turn
  /** Whether the model is shown its own opaque data. */
  readonly withOpaque: boolean
  readonly way: ChoiceWay | undefined
}

/** What became of a request. One that failed and is not paid for may be put otherwise. */
interface Ending {
  readonly failure: BrainFailure | undefined
  readonly isPaid: boolean
}

/** What a stream says beside the reply itself. */
const PREAMBLE: readonly string[] = ['stream-start', 'response-metadata', 'raw', 'finish']

/**
 * A brain that asks a model over its provider's API. Asks once, retries are the runtime's, but for
 * what a server does not take: that is put otherwise.
 */
export function openApiBrain(options: ApiBrainOptions): Brain {
  const choices = new ChoiceMemory()
  const opaque = new OpaqueMemory()
  return {
    name: options.model,
    async *think(turn, signal) {
      let request: Request = {
        turn,
        withOpaque: opaque.isTaken(turn),
        way: choices.wayFor(turn),
      }
      for (;;) {
        const { failure, isPaid }: Ending = yield* ask(options, request, signal)
        if (failure === undefined) {
          choices.keep(turn, request.way)
          return opaque.keep(turn, request.withOpaque)
        }
        const next = isPaid ? undefined : otherwise(request, failure)
        if (next === undefined) return yield { type: 'failed', failure }
        request = next
      }
    },
  }
}

/** A refused request as the server may take it; undefined where there is no such way. */
function otherwise(request: Request, failure: BrainFailure): Request | undefined {
  const { turn, withOpaque } = request
  const way = isChoiceRefused(failure) ? wayAfter(turn, request.way) : undefined
  if (way !== undefined) return { ...request, way }
  const isStale = withOpaque && hasOpaque(turn) && isOpaqueRefused(failure)
  return isStale ? { ...request, withOpaque: false } : undefined
}

/** Asks and tells what comes, except a failure. */
async function* ask(
  options: ApiBrainOptions,
  request: Request,
  signal: AbortSignal,
): AsyncGenerator<BrainEvent, Ending> {
  const watch = new TurnWatch(options.timeouts, signal)
  const reply = new ReplyReader(options.provider, options.model)
  let answering = false
  let failure: BrainFailure | undefined
  try {
    const stream = await openStream(options, request, watch)
    answering = true
    for await (const part of readParts(stream, watch.signal)) {
      if (part.type === 'error') {
        if (options.provider === 'anthropic' && isNewEvent(part.error)) continue
        throw isReadInFull(part.error) ? part.error : (reply.error ?? part.error)
      }
      if (!PREAMBLE.includes(part.type)) watch.begin(hasWordAfter(part, watch))
      const event = reply.take(part)
      if (reply.isWhole) watch.onWhole()
      watch.pause()
      if (event !== undefined) yield event
      watch.resume()
      if (reply.isEnded) break
    }
    failure = reply.failure
    if (reply.isEnded && failure === undefined) watch.finish()
  } catch (error) {
    const secrets = [options.apiKey]
    failure = explainFailure(error, { answering, secrets, nowMs: Date.now() })
  } finally {
    if (!watch.isAnswered) watch.close()
  }
  failure = watch.verdict ?? failure
  const { usage = UNTOLD_USAGE } = reply
  const isPaid = isTold(usage) || hasWorked(watch, failure)
  if (isPaid) yield { type: 'usage', usage }
  if (failure === undefined) yield* reply.end()
  return { failure, isPaid }
}

/** A model may reason for minutes, and more than once, before it says a word of that, or none. */
function hasWordAfter({ type }: LanguageModelV3StreamPart, { hasWord }: TurnWatch): boolean {
  if (type === 'reasoning-start') return false
  return type === 'reasoning-end' ? hasWord : true
}

/** Whether the library made more of an error in a stream than what the provider said there. */
function isReadInFull(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error
}

function isTold({ inputTokens, outputTokens }: Usage): boolean {
  return inputTokens !== null || outputTokens !== null
}

/**
 * Whether the model may have been at work: its reply began, or broke off before any of it could be
 * read, or it was asked and nothing came in time.
 */
function hasWorked(
  { hasBegun, isAnswering, isSent }: TurnWatch,
  failure: BrainFailure | undefined,
): boolean {
  if (hasBegun) return true
  if (failure?.kind === 'network') return isAnswering
  return isSent && (failure?.kind === 'timeout' || failure?.kind === 'stalled')
}

/** Resolves as the reply begins; rejects as soon as the turn ends, whatever the library does. */
async function openStream(
  options: ApiBrainOptions,
  { turn, ...how }: Request,
  watch: TurnWatch,
): Promise<ReadableStream<LanguageModelV3StreamPart>> {
  const { provider, model } = options
  const call = toCallOptions(turn, { provider, model, ...how })
  const opening = loadModel(options, openProviderFetch(watch)).then((loaded) =>
    loaded.doStream({ ...call, abortSignal: watch.signal }),
  )
  const ended = new Promise<never>((_, reject) => {
    if (watch.signal.aborted) reject(watch.signal.reason)
    watch.signal.addEventListener('abort', () => reject(watch.signal.reason), { once: true })
  })
  // Whichever loses is waited for by nobody.
  ended.catch(() => {})
  opening.then(({ stream }) => (watch.signal.aborted ? stream.cancel() : undefined)).catch(() => {})
  const { stream } = await Promise.race([opening, ended])
  return stream
}

/**
 * The parts of a stream until it ends or the signal is aborted, which cuts a pending read short and
 * lets go of the stream. Its reader has to abort the signal also when it stops reading.
 */
async function* readParts(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  signal: AbortSignal,
): AsyncGenerator<LanguageModelV3StreamPart> {
  const reader = stream.getReader()
  const cancel = () => {
    reader.cancel().catch(() => {})
  }
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}
