import { ledgerOf } from '../../agents/team/protocol.ts'
import type { Mind } from '../../agents/thinking/assignment.ts'
import type { LedgerLimits } from '../../ledger/ledger.ts'
import type { ThinkingRole } from '../config/brain-outline.ts'
import { type BrainPlan, resolveBrains, toMind } from '../config/brains.ts'
import type { Environment } from '../config/place.ts'
import type { SlipwayConfig } from '../config/settings/defaults.ts'
import { ProviderError } from '../provider-error.ts'
import { UsageError } from '../usage-error.ts'

/** Who thinks in a team, and who in a task. */
export const TEAM_ROLES = ['pm', 'architect', 'coder'] as const
export const TASK_ROLES = ['coder', 'reviewer', 'tester'] as const

/** Which brain each role has. Throws a provider error where one has none. */
export async function requireBrains(
  config: SlipwayConfig,
  environment: Environment,
): Promise<Readonly<Record<ThinkingRole, BrainPlan>>> {
  const plans = await resolveBrains(config, environment)
  if (!plans.ok) throw new ProviderError(plans.problems.join('\n'))
  return plans.brains
}

/** Who thinks for those roles of a run. Refuses a model that could never be asked. */
export async function requireMinds<Role extends ThinkingRole>(
  plans: Readonly<Record<Role, BrainPlan>>,
  roles: readonly Role[],
  run: string,
  budget: LedgerLimits,
): Promise<Readonly<Record<Role, Mind>>> {
  const ledger = ledgerOf(run)
  const minds = await Promise.all(
    roles.map(async (role) => [role, await toMind(plans[role], role, ledger)] as const),
  )
  refuseUnpriced(minds, budget)
  return Object.fromEntries(minds) as Record<Role, Mind>
}

/** Every call would be refused; it is better said before anything is begun. */
function refuseUnpriced(
  minds: readonly (readonly [ThinkingRole, Mind])[],
  { allowUnpriced }: LedgerLimits,
): void {
  const unpriced = minds.filter(([, { price }]) => price === null).map(([role]) => role)
  if (allowUnpriced || unpriced.length === 0) return
  throw new UsageError(
    `Dollars are limited, and nobody knows the price of the model of ${unpriced.join(', ')}. Give it under prices in the model's entry, or set budget.allowUnpriced to true.`,
  )
}
