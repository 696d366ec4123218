import type { ApiProvider } from '../../effects/brains/api-model.ts'
import type { Environment } from './place.ts'
import { addressOf, findKeyVariable, findProvider, keyVariables } from './provider-variables.ts'
import type { SlipwayConfig } from './settings/defaults.ts'
import { type BrainEntry, type ModelEntry, PROVIDERS } from './settings/schema.ts'

/** The roles that somebody thinks for. */
export const ROLES = ['pm', 'architect', 'coder', 'reviewer', 'tester'] as const
export type ThinkingRole = (typeof ROLES)[number]

/** The variable that names the model of every role, whatever the files say. */
const MODEL_VARIABLE = 'SLIPWAY_MODEL'
/** The variable that names a scenario, which then plays every role. */
export const SCENARIO_VARIABLE = 'SLIPWAY_SCENARIO'

/** Who is to think for a role, as far as it is known without asking anybody. Holds no secret. */
export type BrainOutline = { readonly entry: BrainEntry; readonly from: string } & (
  | { readonly kind: 'scripted'; readonly file: string }
  | { readonly kind: 'agent'; readonly name: string }
  | {
      readonly kind: 'api'
      readonly provider: ApiProvider
      /** Null where the provider's list decides. */
      readonly model: string | null
      readonly baseUrl: string
      /** The variable with the key; null where none is set or needed. */
      readonly keyVariable: string | null
      /** The variables that could hold the key that is missing; empty when it is not. */
      readonly missingKey: readonly string[]
    }
  /** Nothing is configured: an Ollama, if one answers. */
  | { readonly kind: 'unknown'; readonly model: string | null; readonly baseUrl: string }
)

/** Says who is to think for a role. Throws a usage error about a bad variable. */
export function outlineBrain(
  role: ThinkingRole,
  { models }: SlipwayConfig,
  environment: Environment,
): BrainOutline {
  const file = environment[SCENARIO_VARIABLE]?.trim()
  const key = models[role] === null ? 'default' : role
  const entry: BrainEntry = models[key] ?? {}
  if (file) return { kind: 'scripted', file, entry, from: SCENARIO_VARIABLE }
  if (entry.agent !== undefined) {
    const name = typeof entry.agent === 'string' ? entry.agent : (entry.agent.command[0] ?? '')
    return { kind: 'agent', name, entry, from: `models.${key}` }
  }
  const named = environment[MODEL_VARIABLE]?.trim()
  const from = named ? MODEL_VARIABLE : models[key] === null ? 'environment' : `models.${key}`
  return outlineModel(named ? withModel(entry, named) : entry, from, environment)
}

function outlineModel(entry: ModelEntry, from: string, environment: Environment): BrainOutline {
  const provider = entry.provider ?? findProvider(environment)
  const model = entry.model ?? null
  if (provider === undefined) {
    const origin = from === 'environment' && !environment.OLLAMA_HOST ? 'default' : from
    const baseUrl = addressOf('ollama', environment)
    return { kind: 'unknown', model, baseUrl, entry, from: origin }
  }
  const baseUrl =
    entry.baseUrl ?? (provider === 'openai-compatible' ? '' : addressOf(provider, environment))
  const needsKey = provider !== 'ollama' && provider !== 'openai-compatible'
  const isSet = (name: string) => Boolean(environment[name]?.trim())
  const named = entry.apiKeyEnv
  const keyVariable =
    named === undefined ? findKeyVariable(provider, environment) : isSet(named) ? named : undefined
  const isMissing = keyVariable === undefined && (needsKey || named !== undefined)
  const missingKey = !isMissing ? [] : named === undefined ? keyVariables(provider) : [named]
  const known = { provider, model, baseUrl, keyVariable: keyVariable ?? null, missingKey }
  return { kind: 'api', ...known, entry, from }
}

/**
 * An entry with another model: `model`, or `provider/model` where the first part is a provider. What
 * the entry says about its own model does not hold for the other one.
 */
function withModel(entry: ModelEntry, named: string): ModelEntry {
  const [first = '', ...rest] = named.split('/')
  const provider = PROVIDERS.find((each) => each === first && rest.length > 0)
  const model = provider === undefined ? named : rest.join('/')
  const { contextTokens: _, outputTokens: __, prices: ___, ...place } = entry
  if (provider === undefined || provider === entry.provider) return { ...place, model }
  return { provider, model }
}
