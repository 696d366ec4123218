import { readFile } from 'node:fs/promises'
import type { AgentId } from '../../agents/values.ts'
import type { Agent } from '../../effects/brains/agents/agent.ts'
import { AGENTS } from '../../effects/brains/agents/agent-catalog.ts'
import { findInstallation } from '../../effects/brains/agents/installation.ts'
import { examineProvider } from '../../effects/brains/provider-probe.ts'
import { ROLES } from '../config/brain-outline.ts'
import { type BrainPlan, resolveBrains, toMind } from '../config/brains.ts'
import type { Merged } from '../config/layers.ts'
import type { Environment } from '../config/place.ts'
import { keyVariables, mendKey } from '../config/provider-variables.ts'
import { resolveLedgerLimits } from '../config/resolve-settings.ts'
import { type Check, missing, ok, warn } from './check.ts'

const PROBE_MS_MAX = 10_000

/** Whether somebody can think for every role: reachable, installed, and within the budget. */
export async function checkBrains(
  merged: Merged,
  environment: Environment,
): Promise<readonly Check[]> {
  const result = await resolveBrains(merged.config, environment)
  if (!result.ok) {
    return result.problems.map((problem) => {
      const [first = '', ...rest] = problem.split('\n')
      const [found, fix] = rest.length > 0 ? [first, rest.join('\n')] : splitFix(problem)
      return missing('models', found, fix)
    })
  }
  const plans = new Map<string, { readonly roles: string[]; readonly plan: BrainPlan }>()
  for (const role of ROLES) {
    const plan = result.brains[role]
    const same = plans.get(JSON.stringify(plan))
    if (same === undefined) plans.set(JSON.stringify(plan), { roles: [role], plan })
    else same.roles.push(role)
  }
  return Promise.all(
    [...plans.values()].map(({ roles, plan }) =>
      checkPlan(`brain of ${roles.join(', ')}`, plan, merged, environment),
    ),
  )
}

/** The agents of other makers that are installed here. */
export async function checkAgents(environment: Environment): Promise<readonly Check[]> {
  const all: readonly Agent[] = Object.values(AGENTS)
  const found = await Promise.all(all.map((agent) => isInstalled(agent, environment)))
  const names = all.filter((_, i) => found[i]).map(({ name }) => name)
  return [ok('agents', names.length === 0 ? 'none found; none is needed' : names.join(', '))]
}

async function checkPlan(
  name: string,
  plan: BrainPlan,
  merged: Merged,
  environment: Environment,
): Promise<Check> {
  if (plan.kind === 'scripted') return checkScenario(name, plan.file)
  const { price } = await toMind(plan, name, 'doctor' as AgentId)
  if (price === null && !resolveLedgerLimits(merged).allowUnpriced) {
    const fix = 'Give its prices in the configuration, or set budget.allowUnpriced to true.'
    return missing(name, 'its price is unknown, and dollars are limited', fix)
  }
  const found = price === null ? unpriced : ok
  if (plan.kind === 'agent') {
    const { agent } = plan
    if (await isInstalled(agent, environment)) return found(name, `the agent ${agent.name}`)
    return missing(
      name,
      `the agent ${agent.name} is not installed`,
      'Install it, and sign in once.',
    )
  }
  const { provider, model, baseUrl } = plan.choice
  const place = `${provider}, ${model} at ${baseUrl}`
  const health = await examineProvider(plan.choice, AbortSignal.timeout(PROBE_MS_MAX))
  switch (health.kind) {
    case 'well':
      return found(name, place)
    case 'refused':
      return missing(name, `${place} refuses the key (${health.status})`, mendKey(variableOf(plan)))
    case 'failing':
      return missing(name, `${place} answers with HTTP ${health.status}`, 'Wait, or look there.')
    case 'silent':
      return missing(name, `${place} does not answer`, 'Look at the address and the network.')
  }
}

/** The variable with the key of a plan, if it has one. */
function variableOf({ choice, keyVariable }: Extract<BrainPlan, { kind: 'api' }>) {
  return choice.apiKey === '' ? undefined : (keyVariable ?? keyVariables(choice.provider)[0])
}

/** It works, and costs what nobody can bound in dollars. */
function unpriced(name: string, found: string): Check {
  const fix = 'Give its prices in its entry under models to have dollars counted.'
  return warn(name, `${found}. Its price is unknown: no limit in dollars holds for it`, fix)
}

async function checkScenario(name: string, file: string): Promise<Check> {
  const { readScenario } = await import('../../effects/brains/scenario.ts')
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) {
    return missing(name, `${file} cannot be read`, 'Mend or unset SLIPWAY_SCENARIO.')
  }
  if (file.endsWith('.jsonl')) return ok(name, `the cassette ${file}`)
  const read = readScenario(text, file)
  if (read.ok) return ok(name, `the scenario ${file}`)
  return missing(name, read.problems[0] ?? '', 'Mend the scenario.')
}

async function isInstalled(agent: Agent, { PATH = '' }: Environment): Promise<boolean> {
  const commands = [agent.acp?.argv, agent.headless?.argv].filter((argv) => argv !== undefined)
  const found = await Promise.all(
    commands.map((argv) => findInstallation(argv, PATH).catch(() => undefined)),
  )
  return found.some((one) => one !== undefined)
}

/** The last sentence of a problem is what to do. */
function splitFix(problem: string): readonly [string, string] {
  const at = problem.lastIndexOf('. ', problem.length - 2)
  return at === -1 ? [problem, ''] : [problem.slice(0, at), problem.slice(at + 2)]
}
