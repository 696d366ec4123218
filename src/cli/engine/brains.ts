import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { secretsOf } from '../../effects/brains/agents/agent-secrets.ts'
import { type ApiModelChoice, sellerOf } from '../../effects/brains/api-model.ts'
import type { Brain, Usage } from '../../effects/brains/brain.ts'
import { isPlainWords } from '../../effects/guards/secret-name.ts'
import type { Isolation } from '../../effects/sandbox/sandbox.ts'
import type { NamedBrain } from '../../effects/thinking/think-handler.ts'
import type { Service } from '../../runtime/effect-handler.ts'
import { type BrainPlan, sourceOf } from '../config/brains.ts'
import type { Environment } from '../config/place.ts'
import { UsageError } from '../usage-error.ts'
import type { OpenedBrains } from './team.ts'

/** How long a turn may take. A local model may think for minutes before its first word. */
const TIMEOUTS = { firstTokenMs: 300_000, idleMs: 180_000, totalMs: 1_800_000 }
/** An agent works for as long as a state does. */
const AGENT_TIMEOUTS = { firstTokenMs: 300_000, idleMs: 600_000, totalMs: 7_200_000 }
const AGENT_BUDGET = { stepsMax: 500, updatesMax: 200_000 }

/** How many calls of one provider are under way at once. */
const CALLS_AT_ONCE_MAX = 16

/** The variable that names a cassette, onto which every turn is recorded. */
const RECORD_VARIABLE = 'SLIPWAY_RECORD'
const CASSETTE_ENDING = '.jsonl'

/** Where brains are opened. */
export interface BrainGround {
  readonly isolation: Isolation
  readonly stateFolder: string
  readonly environment: Environment
  /** Values that may be in no recording; more may become known later. */
  readonly secrets: readonly string[]
}

/** The values that brains are told and nobody else may see. */
export function secretsOfBrains(
  plans: Readonly<Record<string, BrainPlan>>,
  environment: Environment,
): readonly string[] {
  const values = Object.values(plans).flatMap((plan) => {
    if (plan.kind === 'agent') return secretsOf(plan.agent, environment)
    return plan.kind === 'api' && isSecretKey(plan.choice) ? [plan.choice.apiKey] : []
  })
  return [...new Set(values)]
}

/**
 * Servers on the user's own machine, whichever protocol they speak, are given anything for a key,
 * such as `ollama`, `not-needed` or `sk-1234`: nobody could write without those words.
 */
function isSecretKey(choice: ApiModelChoice): boolean {
  const { apiKey } = choice
  const seller = sellerOf(choice)
  const mayBeAnything = seller === 'ollama' || seller === 'openai-compatible'
  const isWords = isPlainWords(apiKey.replace(/-\d{1,4}$/, ''))
  return apiKey !== '' && !(mayBeAnything && isWords)
}

/** Opens the brains of the roles. Those with the same key, or the same agent, share a service. */
export async function openBrains(
  plans: Readonly<Record<string, BrainPlan>>,
  ground: BrainGround,
): Promise<OpenedBrains> {
  const brains: Record<string, NamedBrain> = {}
  const services: Record<string, Service> = {}
  for (const [name, plan] of Object.entries(plans)) {
    const service = serviceOf(name, plan, plans)
    brains[name] = {
      brain: await recorded(await openBrain(plan, ground), ground),
      service,
      priceOf: pricing(plan),
      ...(plan.kind === 'agent' && { isAgent: true as const }),
    }
    services[service] = { concurrencyMax: CALLS_AT_ONCE_MAX, probe: await probing(plan) }
  }
  return { brains, services }
}

/** The name is stored, so it is the same after a restart, and holds nothing of a key. */
function serviceOf(
  role: string,
  plan: BrainPlan,
  plans: Readonly<Record<string, BrainPlan>>,
): string {
  if (plan.kind === 'scripted') return 'scripted'
  if (plan.kind === 'api') {
    const { choice, keyVariable } = plan
    const place = `${choice.provider} ${choice.baseUrl ?? ''}`.trim()
    return keyVariable === undefined ? place : `${place} (${keyVariable})`
  }
  const { agent } = plan
  const namesakes = Object.entries(plans).flatMap(([by, other]) =>
    other.kind === 'agent' && other.agent.name === agent.name ? [{ by, agent: other.agent }] : [],
  )
  const first = namesakes.find((other) => isDeepStrictEqual(other.agent, agent))?.by ?? role
  return first === namesakes[0]?.by ? agent.name : `${agent.name} of ${first}`
}

async function openBrain(plan: BrainPlan, ground: BrainGround): Promise<Brain> {
  switch (plan.kind) {
    case 'api': {
      const { openApiBrain } = await import('../../effects/brains/api-brain.ts')
      return openApiBrain({ ...plan.choice, timeouts: TIMEOUTS })
    }
    case 'agent':
      return openAgent(plan, ground)
    case 'scripted':
      return openScript(plan.file)
  }
}

async function openAgent(
  { agent, model, addresses }: Extract<BrainPlan, { kind: 'agent' }>,
  ground: BrainGround,
): Promise<Brain> {
  const options = {
    ...{ agent, addresses, ...ground, timeouts: AGENT_TIMEOUTS, budget: AGENT_BUDGET },
    ...(model !== undefined && { model }),
  }
  const { isolation, environment } = ground
  const { modeOf } = await import('../../effects/brains/agents/agent-mode.ts')
  if ((await modeOf(agent, environment.PATH ?? '', isolation.level === 'container')) === 'acp') {
    const { openAcpBrain } = await import('../../effects/brains/agents/acp-brain.ts')
    return openAcpBrain(options)
  }
  const { openHeadlessBrain } = await import('../../effects/brains/agents/headless-brain.ts')
  return openHeadlessBrain(options)
}

/** The same brain, with a cassette running where the user has put one in. */
async function recorded(brain: Brain, { environment, secrets }: BrainGround): Promise<Brain> {
  const file = environment[RECORD_VARIABLE]?.trim()
  if (!file) return brain
  const { openRecordingBrain } = await import('../../effects/brains/recorded-brain.ts')
  return openRecordingBrain(brain, { file, secrets })
}

/** A scenario, or a cassette by its ending. */
async function openScript(file: string): Promise<Brain> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(`the scenario cannot be read: ${error.message}`)
  })
  if (file.endsWith(CASSETTE_ENDING)) return openCassette(text, file)
  const { readScenario } = await import('../../effects/brains/scenario.ts')
  const { openScriptedBrain } = await import('../../effects/brains/scripted-brain.ts')
  const read = readScenario(text, file)
  if (!read.ok) throw new UsageError(read.problems.join('\n'))
  return openScriptedBrain(read.scenario)
}

async function openCassette(text: string, file: string): Promise<Brain> {
  const { readCassette } = await import('../../effects/brains/cassette.ts')
  const { openPlayingBrain } = await import('../../effects/brains/recorded-brain.ts')
  const read = readCassette(text, file)
  if (!read.ok) throw new UsageError(read.problem)
  return openPlayingBrain(read.takes)
}

function pricing(plan: BrainPlan): NamedBrain['priceOf'] {
  if (plan.kind === 'scripted') return async () => 0
  const { seller, model } = sourceOf(plan)
  const { prices: configured } = plan
  return async (usage: Usage) => {
    const { priceOf } = await import('../../effects/brains/price.ts')
    return (await priceOf(seller, model, usage, { configured })) ?? null
  }
}

/** An agent is asked nothing without a turn: whether it is well shows in the next one. */
async function probing(plan: BrainPlan): Promise<Service['probe']> {
  if (plan.kind !== 'api') return async () => true
  const { probeProvider } = await import('../../effects/brains/provider-probe.ts')
  return (signal) => probeProvider(plan.choice, signal)
}
