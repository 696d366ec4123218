import { type ApiBrainOptions, openApiBrain } from '../../src/effects/brains/api-brain.ts'
import type { Brain, FailureKind } from '../../src/effects/brains/brain.ts'
import type { TurnTimeouts } from '../../src/effects/brains/turn-watch.ts'
import type { Answer } from '../providers/answer.ts'
import type { ProviderServer } from '../providers/server.ts'
import type { WireName } from '../providers/wire.ts'
import type { BrainSubject, Play } from './conformance.ts'

export const API_KEY = 'sk-ant-api03-this-is-not-a-key-0123456789'

/** Long enough for a busy machine. */
export const PATIENT: TurnTimeouts = { firstTokenMs: 20_000, idleMs: 20_000, totalMs: 30_000 }

/** One provider, as the brain names it, and the protocol that it speaks. */
export interface ApiSubject {
  readonly provider: ApiBrainOptions['provider']
  readonly wire: WireName
  readonly model: string
  optionsFor(url: string): ApiBrainOptions
}

export const API_SUBJECTS: readonly ApiSubject[] = [
  subject('anthropic', 'anthropic', 'claude-test', (common, url) => ({
    ...common,
    provider: 'anthropic',
    baseUrl: `${url}/v1`,
  })),
  // A name that the library takes for a model which reasons.
  subject('openai', 'openai-responses', 'gpt-5-test', (common, url) => ({
    ...common,
    provider: 'openai',
    baseUrl: `${url}/v1`,
  })),
  subject('google', 'gemini', 'gemini-test', (common, url) => ({
    ...common,
    provider: 'google',
    baseUrl: `${url}/v1beta`,
  })),
  subject('openai-compatible', 'openai-chat', 'local-test', (common, url) => ({
    ...common,
    provider: 'openai-compatible',
    baseUrl: `${url}/v1`,
  })),
  subject('ollama', 'ollama', 'llama-test', (common, url) => ({
    ...common,
    provider: 'ollama',
    baseUrl: url,
    contextTokens: 32_768,
  })),
]

/** The subject of one provider. */
export function subjectOf(provider: ApiSubject['provider']): ApiSubject {
  const api = API_SUBJECTS.find((one) => one.provider === provider)
  if (api === undefined) throw new Error(provider)
  return api
}

type Common = Pick<ApiBrainOptions, 'model' | 'apiKey' | 'timeouts'>

function subject(
  provider: ApiSubject['provider'],
  wire: WireName,
  model: string,
  optionsOf: (common: Common, url: string) => ApiBrainOptions,
): ApiSubject {
  const common = { model, apiKey: API_KEY, timeouts: PATIENT }
  return { provider, wire, model, optionsFor: (url) => optionsOf(common, url) }
}

/** A brain of one provider, asking that server. */
export function openSubject(
  { optionsFor }: ApiSubject,
  { url }: Pick<ProviderServer, 'url'>,
  timeouts: TurnTimeouts = PATIENT,
): Brain {
  return openApiBrain({ ...optionsFor(url), timeouts })
}

const FAULTS: Readonly<Record<Exclude<FailureKind, 'aborted'>, Answer>> = {
  rate_limited: { error: 'rate_limited' },
  overloaded: { error: 'overloaded' },
  auth: { error: 'unauthorized' },
  quota: { error: 'no_credit' },
  context_overflow: { error: 'context_overflow' },
  network: { broken: 'cut' },
  timeout: { broken: 'silent' },
  stalled: { broken: 'stalled' },
  refused: { reply: { parts: [], end: 'refused' } },
  invalid_output: { reply: { parts: [] } },
  rejected: { error: 'bad_request' },
}

/** That provider as a subject of the suite that all brains pass. */
export function conformanceOf(api: ApiSubject, server: () => ProviderServer): BrainSubject {
  return {
    name: `${api.provider} over ${api.wire}`,
    // Ollama has no refusal of its own: a local model refuses in plain text.
    ...(api.provider === 'ollama' ? { without: ['refused'] } : {}),
    async open(play) {
      server().answer(answerTo(play))
      const isSlow = 'fails' in play && (play.fails === 'timeout' || play.fails === 'stalled')
      const timeouts = isSlow ? { ...PATIENT, ...impatience(play) } : PATIENT
      return openSubject(api, server(), timeouts)
    },
  }
}

function impatience(play: Extract<Play, { fails: unknown }>): Partial<TurnTimeouts> {
  return play.fails === 'timeout' ? { firstTokenMs: 300 } : { idleMs: 300 }
}

function answerTo(play: Play): Answer {
  if ('reply' in play) return play
  if ('hangs' in play) return { broken: 'stalled' }
  if (play.fails === 'aborted') throw new Error('nothing but the caller aborts')
  const answer = FAULTS[play.fails]
  if (play.retryAfterMs === undefined || !('error' in answer)) return answer
  return { ...answer, headers: { 'retry-after': String(play.retryAfterMs / 1_000) } }
}
