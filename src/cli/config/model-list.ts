import { z } from 'zod'
import type { ApiProvider } from '../../effects/brains/api-model.ts'
import { headersFor, refusesKey } from '../../effects/brains/provider-probe.ts'
import { type ListedModel, rankModels } from './model-choice.ts'

/** A provider to be asked for its models. */
export interface Listing {
  readonly provider: ApiProvider
  readonly baseUrl: string
  readonly apiKey: string
}

export type ModelAnswer =
  | { readonly ok: true; readonly model: ListedModel }
  | { readonly ok: false; readonly reason: string; readonly isKeyRefused: boolean }

/** For all that is asked. */
const TIMEOUT_MS = 10_000
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
/** How many models of an Ollama are looked at for one that calls tools. */
const LOOKS_MAX = 10

const id = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[A-Za-z0-9][\w.:/@+-]*$/)
const count = z.int().positive().optional().catch(undefined)

const DATA = z.object({
  data: z.array(
    z
      .object({
        id,
        created: z.number().optional(),
        created_at: z.string().optional(),
        max_input_tokens: count,
        max_tokens: count,
        // By vLLM, OpenRouter and Together, Groq, and Mistral.
        max_model_len: count,
        context_length: count,
        context_window: count,
        max_context_length: count,
      })
      .or(z.unknown().transform(() => undefined)),
  ),
})
const GOOGLE = z.object({
  models: z.array(
    z
      .object({
        name: z
          .string()
          .transform((name) => name.replace(/^models\//, ''))
          .pipe(id),
        supportedGenerationMethods: z.array(z.string()).default([]),
        inputTokenLimit: count,
        outputTokenLimit: count,
      })
      .or(z.unknown().transform(() => undefined)),
  ),
})
const TAGS = z.object({
  models: z.array(
    z
      .object({ name: id, modified_at: z.string().optional() })
      .or(z.unknown().transform(() => undefined)),
  ),
})
const SHOW = z.object({
  capabilities: z.array(z.string()).optional(),
  model_info: z.record(z.string(), z.unknown()).default({}),
})

/** Asks a provider for its models and chooses one. Costs nothing. Never rejects. */
export async function chooseModel(listing: Listing): Promise<ModelAnswer> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const ask: Ask = (path, body) => request(listing, signal, path, body)
    const ranked = rankModels(await listModels(listing.provider, ask))
    if (listing.provider === 'ollama') return await chooseWithTools(ask, ranked)
    const [model] = ranked
    if (model !== undefined) return { ok: true, model }
    return { ok: false, reason: 'it lists no model that converses', isKeyRefused: false }
  } catch (error) {
    return { ok: false, reason: reasonOf(error), isKeyRefused: error instanceof KeyRefusedError }
  }
}

class KeyRefusedError extends Error {}

type Ask = (path: string, body?: object) => Promise<unknown>

async function listModels(provider: ApiProvider, ask: Ask): Promise<readonly ListedModel[]> {
  const known = <T>(each: T | undefined): readonly T[] => (each === undefined ? [] : [each])
  switch (provider) {
    case 'google': {
      const { models } = GOOGLE.parse(await ask('/models?pageSize=1000'))
      return models
        .flatMap(known)
        .filter(({ supportedGenerationMethods: can }) => can.includes('generateContent'))
        .map(({ name, inputTokenLimit, outputTokenLimit }) =>
          listed(name, undefined, inputTokenLimit, outputTokenLimit),
        )
    }
    case 'ollama': {
      const { models } = TAGS.parse(await ask('/api/tags'))
      return models.flatMap(known).map(({ name, modified_at }) => listed(name, timeOf(modified_at)))
    }
    default: {
      const path = provider === 'anthropic' ? '/models?limit=1000' : '/models'
      const { data } = DATA.parse(await ask(path))
      return data.flatMap(known).map((model) => {
        const { id, created, created_at, max_tokens } = model
        const createdMs = created === undefined ? timeOf(created_at) : created * 1_000
        return listed(id, createdMs, windowOf(model), max_tokens)
      })
    }
  }
}

type DataModel = NonNullable<z.infer<typeof DATA>['data'][number]>

/** How much a conversation may hold, as whoever lists it calls that. */
function windowOf(model: DataModel): number | undefined {
  const { max_input_tokens, max_model_len, context_length, context_window } = model
  return (
    max_input_tokens ??
    max_model_len ??
    context_length ??
    context_window ??
    model.max_context_length
  )
}

function listed(
  id: string,
  createdMs: number | undefined,
  contextTokens?: number,
  outputTokens?: number,
): ListedModel {
  return {
    id,
    ...(createdMs === undefined ? {} : { createdMs }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  }
}

function timeOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '')
  return Number.isNaN(ms) ? undefined : ms
}

/** An Ollama says only when asked about each whether a model calls tools. */
async function chooseWithTools(ask: Ask, ranked: readonly ListedModel[]): Promise<ModelAnswer> {
  for (const model of ranked.slice(0, LOOKS_MAX)) {
    const about = SHOW.parse(await ask('/api/show', { model: model.id }))
    if (about.capabilities !== undefined && !about.capabilities.includes('tools')) continue
    const lengths = Object.entries(about.model_info).filter(([key]) =>
      key.endsWith('.context_length'),
    )
    const length = Number(lengths[0]?.[1])
    return {
      ok: true,
      model: Number.isInteger(length) ? { ...model, contextTokens: length } : model,
    }
  }
  const reason = 'it has no model that calls tools; `ollama pull` one'
  return { ok: false, reason, isKeyRefused: false }
}

async function request(
  { provider, baseUrl, apiKey }: Listing,
  signal: AbortSignal,
  path: string,
  body?: object,
): Promise<unknown> {
  const post = body && { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`${baseUrl.replace(/\/+$/, '')}${path}`, {
    ...post,
    headers: headersFor({ provider, apiKey }),
    signal,
    // Following it would hand the key to another host.
    redirect: 'error',
  })
  if (!response.ok) {
    await response.body?.cancel()
    const { status } = response
    if (!refusesKey(status)) throw new Error(`HTTP ${status}`)
    throw new KeyRefusedError(`it refuses the key (${status})`)
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > ANSWER_BYTES_MAX) throw new Error('its list of models does not end')
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

/** In words, and without anything that a server said. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it cannot be reached'
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1_000} s`
  if (error.name === 'ZodError' || error instanceof SyntaxError) return 'its list cannot be read'
  if (error instanceof TypeError) return 'it cannot be reached'
  return error.message
}
