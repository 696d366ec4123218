import type { Mind } from '../../agents/thinking/assignment.ts'
import type { AgentId } from '../../agents/values.ts'
import type { Agent } from '../../effects/brains/agents/agent.ts'
import { AGENTS } from '../../effects/brains/agents/agent-catalog.ts'
import { type ApiModelChoice, type ApiProvider, sellerOf } from '../../effects/brains/api-model.ts'
import { type ConfiguredPrices, dearestPrices } from '../../effects/brains/price.ts'
import { type BrainOutline, outlineBrain, ROLES, type ThinkingRole } from './brain-outline.ts'
import type { ListedModel } from './model-choice.ts'
import { chooseModel, type Listing, type ModelAnswer } from './model-list.ts'
import type { Environment } from './place.ts'
import { keyVariables, mendKey } from './provider-variables.ts'
import type { SlipwayConfig } from './settings/defaults.ts'
import type { BrainEntry } from './settings/schema.ts'

/** A brain to open: data, and of secrets only the key that its provider wants. */
export type BrainPlan = {
  readonly contextTokens: number
  readonly outputTokensMax: number
  readonly prices: ConfiguredPrices | undefined
} & (
  | { readonly kind: 'scripted'; readonly file: string }
  | {
      readonly kind: 'agent'
      readonly agent: Agent
      readonly model: string | undefined
      /** On this machine, besides those in its variables. */
      readonly addresses: readonly string[]
    }
  | {
      readonly kind: 'api'
      readonly choice: ApiModelChoice
      /** The variable with the key, where that is not the provider's usual one. */
      readonly keyVariable?: string
    }
)

export type BrainsResult =
  | { readonly ok: true; readonly brains: Readonly<Record<ThinkingRole, BrainPlan>> }
  | { readonly ok: false; readonly problems: readonly string[] }

/** What is taken where neither the user nor the provider says how much a model can hold. */
const CONTEXT_TOKENS = 128_000
/** More costs more with every turn, and on the user's own machine more than its memory. */
const CONTEXT_TOKENS_MAX = 200_000
const OLLAMA_CONTEXT_TOKENS_MAX = 32_768
const OUTPUT_TOKENS_MAX = 16_000
/** What an agent may use in one turn, which is a whole state of a story to it. */
const SESSION_TOKENS_MAX = 4_000_000

const WAYS_OUT = [
  'No model is configured.',
  'Set the key of a provider in the environment: ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY;',
  'or start Ollama on this machine, with a model that calls tools;',
  'or name a provider, and the variable with its key, under models.default in slipway.config.yaml.',
].join('\n')

/** An agent works in a folder, and architect@D has none when it reads a spec. */
const NO_CODE =
  'models.architect: under architect@D a spec is reviewed without the code, and an agent needs a workspace. Set revisions.architect to I, or name a model.'

/**
 * Finds out which brain each role has. Asks a provider for its models where none is named; nothing
 * else leaves the machine. Throws a usage error about a bad variable.
 */
export async function resolveBrains(
  config: SlipwayConfig,
  environment: Environment,
): Promise<BrainsResult> {
  const asked = new Map<string, Promise<ModelAnswer>>()
  const ask = (listing: Listing) => {
    const key = JSON.stringify(listing)
    const answer = asked.get(key) ?? chooseModel(listing)
    asked.set(key, answer)
    return answer
  }
  const outlines = ROLES.map((role) => outlineBrain(role, config, environment))
  const plans = await Promise.all(
    outlines.map(async (outline) => fitting(await planBrain(outline, environment, ask), outline)),
  )
  const problems = plans.filter((plan) => typeof plan === 'string')
  if (problems.length > 0) return { ok: false, problems: [...new Set(problems)] }
  const found = ROLES.map((role, i) => [role, plans[i]])
  const brains = Object.fromEntries(found) as Record<ThinkingRole, BrainPlan>
  if (brains.architect.kind === 'agent' && config.revisions.architect === 'D') {
    return { ok: false, problems: [NO_CODE] }
  }
  return { ok: true, brains }
}

/** What an agent is told about a brain, under the name that the brain is opened with. */
export async function toMind(plan: BrainPlan, brain: string, ledger: AgentId): Promise<Mind> {
  const { contextTokens, outputTokensMax } = plan
  const session = plan.kind === 'agent' && { sessionTokensMax: SESSION_TOKENS_MAX }
  return { brain, contextTokens, outputTokensMax, ...session, price: await priceCard(plan), ledger }
}

async function priceCard(plan: BrainPlan): Promise<Mind['price']> {
  const { contextTokens, prices: configured } = plan
  // A script asks nobody.
  if (plan.kind === 'scripted') return { inputPerMillion: 0, outputPerMillion: 0 }
  const { seller, model } = sourceOf(plan)
  return (await dearestPrices(seller, model, contextTokens, { configured })) ?? null
}

/**
 * Whose model is paid for. Whom an agent asks is its own affair: it has the price that the user
 * says, or none.
 */
export function sourceOf(plan: Exclude<BrainPlan, { kind: 'scripted' }>): {
  readonly seller: ApiProvider
  readonly model: string
} {
  if (plan.kind === 'agent') return { seller: 'openai-compatible', model: '' }
  return { seller: sellerOf(plan.choice), model: plan.choice.model }
}

/** The plan, unless no request would fit beside the longest reply. */
function fitting(plan: BrainPlan | string, { from }: BrainOutline): BrainPlan | string {
  if (typeof plan === 'string' || plan.outputTokensMax < plan.contextTokens) return plan
  const { contextTokens, outputTokensMax } = plan
  return `${from}: a reply of ${outputTokensMax} tokens leaves no room for a request in ${contextTokens}. Set outputTokens to less, or contextTokens to what the model takes.`
}

/** The plan, or what stands in its way. */
async function planBrain(
  outline: BrainOutline,
  environment: Environment,
  ask: (listing: Listing) => Promise<ModelAnswer>,
): Promise<BrainPlan | string> {
  const { entry, from } = outline
  if (outline.kind === 'scripted') {
    return { kind: 'scripted', file: outline.file, ...sizesOf(entry, undefined) }
  }
  if (outline.kind === 'agent') {
    return {
      kind: 'agent',
      agent: agentOf(entry),
      model: entry.model,
      addresses: typeof entry.agent === 'object' ? (entry.agent.addresses ?? []) : [],
      ...sizesOf(entry, undefined),
    }
  }
  const isKnown = outline.kind === 'api'
  if (isKnown && outline.missingKey.length > 0) {
    return `${from}: the environment variable ${outline.missingKey.join(' or ')} is not set. Set it to your key for ${outline.provider}.`
  }
  const provider = isKnown ? outline.provider : 'ollama'
  const variable = isKnown ? outline.keyVariable : null
  const apiKey = variable === null ? '' : (environment[variable]?.trim() ?? '')
  const { baseUrl } = outline
  const place = { provider, baseUrl, apiKey }
  const isUsual = variable === null || variable === keyVariables(provider)[0]
  const key = isUsual ? {} : { keyVariable: variable }
  if (isKnown && outline.model !== null) {
    return { ...planModel(place, entry, { id: outline.model }), ...key }
  }
  const answer = await ask(place)
  if (answer.ok) {
    const listed = outline.model === null ? answer.model : { id: outline.model }
    return { ...planModel(place, entry, listed), ...key }
  }
  if (isKnown && answer.isKeyRefused) {
    return `${from}: ${provider} at ${baseUrl}: ${answer.reason}. ${mendKey(variable ?? undefined)}`
  }
  if (!isKnown) return `${WAYS_OUT}\n(Ollama was asked at ${baseUrl}: ${answer.reason}.)`
  return `${from}: ${provider} could not be asked for its models at ${baseUrl}: ${answer.reason}. Mend that, or name one: SLIPWAY_MODEL, or model in the configuration.`
}

function planModel(
  { provider, baseUrl, apiKey }: Listing,
  entry: BrainEntry,
  listed: ListedModel,
): BrainPlan {
  const sizes = sizesOf(entry, listed, provider)
  const { contextTokens } = sizes
  const choice: ApiModelChoice =
    provider === 'ollama'
      ? { provider, baseUrl, apiKey, model: listed.id, contextTokens }
      : { provider, baseUrl, apiKey, model: listed.id }
  return { kind: 'api', choice, ...sizes }
}

function sizesOf(
  { contextTokens, outputTokens, prices }: BrainEntry,
  listed: ListedModel | undefined,
  provider?: ApiProvider,
): Pick<BrainPlan, 'contextTokens' | 'outputTokensMax' | 'prices'> {
  const isLocal = provider === 'ollama'
  const most = isLocal ? OLLAMA_CONTEXT_TOKENS_MAX : CONTEXT_TOKENS_MAX
  const context = contextTokens ?? Math.min(listed?.contextTokens ?? CONTEXT_TOKENS, most)
  const output = Math.min(listed?.outputTokens ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX)
  return {
    contextTokens: context,
    outputTokensMax: outputTokens ?? Math.min(output, Math.floor(context / 2)),
    prices: prices && readPrices(prices),
  }
}

function readPrices({ input, cached, cacheWrite, output }: NonNullable<BrainEntry['prices']>) {
  return {
    input,
    output,
    ...(cached === undefined ? {} : { cached }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  }
}

/** One that is known by name, or the user's own command. */
function agentOf({ agent }: BrainEntry): Agent {
  if (typeof agent === 'string') return AGENTS[agent]
  if (agent === undefined) throw new Error('the entry has no agent')
  const { command, variables = [], hosts = [] } = agent
  const [program = '', ...args] = command
  return {
    name: program.split('/').at(-1) ?? program,
    acp: { argv: [program, ...args] },
    variables,
    areVariablesSecret: true,
    addresses: [],
    home: [],
    hosts,
  }
}
