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
import { openProviderFetch } from './provider-fetch.ts'
import { FormMemory, otherwise, type RequestForm } from './request-form.ts'
import { type TurnTimeouts, TurnWatch } from './turn-watch.ts'

export type ApiBrainOptions = ApiModelChoice & { readonly timeouts: TurnTimeouts }

/** One request: the turn, and how it is put. */
interface Request {
  readonly turn: Turn
  readonly form: RequestForm
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
  const forms = new FormMemory()
  return {
    name: options.model,
    async *think(turn, signal) {
      let form = forms.formFor(turn)
      for (;;) {
        const { failure, isPaid }: Ending = yield* ask(options, { turn, form }, signal)
        if (failure === undefined) return forms.keep(turn, form)
        const next = isPaid ? undefined : otherwise(form, turn, failure)
        if (next === undefined) return yield { type: 'failed', failure }
        form = next
      }
    },
  }
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
  { turn, form }: Request,
  watch: TurnWatch,
): Promise<ReadableStream<LanguageModelV3StreamPart>> {
  const { provider, model } = options
  const call = toCallOptions(turn, { provider, model, ...form })
  const isCounted = !form.ways.has('uncounted')
  const fetch = openProviderFetch(watch, provider)
  const opening = loadModel(options, fetch, isCounted).then((loaded) =>
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
