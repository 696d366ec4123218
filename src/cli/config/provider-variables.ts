import { type ApiModelChoice, type ApiProvider, baseUrlOf } from '../../effects/brains/api-model.ts'
import { UsageError } from '../usage-error.ts'
import type { Environment } from './place.ts'
import { addressProblem } from './value-checks.ts'

/** A provider whose address and key are known without configuration. */
export type KnownProvider = Exclude<ApiProvider, 'openai-compatible'>

interface Variables {
  /** The first that is set holds the key. */
  readonly keys: readonly string[]
  readonly addresses: readonly string[]
  /** What others' programs add to such an address themselves, and when. */
  readonly version: string
  readonly isVersionInAddress: boolean
}

/** The user's own variables, by the names that the providers' own programs use. */
const VARIABLES: Readonly<Record<KnownProvider, Variables>> = {
  anthropic: {
    keys: ['ANTHROPIC_API_KEY'],
    addresses: ['ANTHROPIC_BASE_URL'],
    version: '/v1',
    isVersionInAddress: false,
  },
  openai: {
    keys: ['OPENAI_API_KEY'],
    addresses: ['OPENAI_BASE_URL'],
    version: '/v1',
    isVersionInAddress: true,
  },
  google: {
    keys: ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    addresses: ['GOOGLE_GEMINI_BASE_URL'],
    version: '/v1beta',
    isVersionInAddress: false,
  },
  ollama: {
    keys: ['OLLAMA_API_KEY'],
    addresses: ['OLLAMA_HOST'],
    version: '',
    isVersionInAddress: true,
  },
}

/** The variables that can hold the key of a provider. */
export function keyVariables(provider: ApiProvider): readonly string[] {
  return provider === 'openai-compatible' ? [] : VARIABLES[provider].keys
}

/** The variable that holds the key of a provider, if one is set. */
export function findKeyVariable(
  provider: ApiProvider,
  environment: Environment,
): string | undefined {
  return keyVariables(provider).find((name) => Boolean(environment[name]?.trim()))
}

/** What to do about a key that a provider refuses, by the variable that holds it, if one does. */
export function mendKey(variable: string | undefined): string {
  return variable === undefined
    ? 'Name the variable with a key for it as apiKeyEnv in its entry under models.'
    : `Set ${variable} to a key that it takes.`
}

/** The first provider with a key, in a fixed order. */
export function findProvider(environment: Environment): KnownProvider | undefined {
  const withKeys = ['anthropic', 'openai', 'google'] as const
  return withKeys.find((provider) => findKeyVariable(provider, environment) !== undefined)
}

/**
 * The address of a provider: the user's own variable, or the provider's. Throws a usage error when
 * the variable holds none.
 */
export function addressOf(provider: KnownProvider, environment: Environment): string {
  const { addresses, version, isVersionInAddress } = VARIABLES[provider]
  const name = addresses.find((variable) => Boolean(environment[variable]?.trim()))
  if (name === undefined) return ownAddress(provider)
  const value = environment[name]?.trim() ?? ''
  const address = provider === 'ollama' ? ollamaAddress(value) : value.replace(/\/+$/, '')
  const problem = addressProblem(address)
  if (problem !== undefined) throw new UsageError(`The environment variable ${name} ${problem}.`)
  const { pathname } = new URL(address)
  const hasVersion = isVersionInAddress ? pathname !== '/' : /\/v\d[^/]*$/.test(pathname)
  return hasVersion ? address : `${address}${version}`
}

function ownAddress(provider: KnownProvider): string {
  const choice = { provider, model: '', apiKey: '', contextTokens: 0 }
  return baseUrlOf(choice as ApiModelChoice)
}

/** Ollama takes `host`, `host:port` and `:port`, and 0.0.0.0 for where it listens. */
function ollamaAddress(value: string): string {
  const port = 11_434
  const whole = /^https?:\/\//.test(value) ? value : `http://${value}`
  const here = whole
    .replace(/^http:\/\/(?=:|$)/, 'http://127.0.0.1')
    .replace('0.0.0.0', '127.0.0.1')
  if (!URL.canParse(here)) return value
  const url = new URL(here)
  if (url.port === '' && url.protocol === 'http:' && !/:80\/?$/.test(here)) url.port = String(port)
  return url.href.replace(/\/+$/, '')
}
