import type { Brought, TaskRole } from '../../agents/coordinator/protocol.ts'
import { ledgerOf } from '../../agents/team/protocol.ts'
import type { Mind } from '../../agents/thinking/assignment.ts'
import { type BrainPlan, toMind } from '../config/brains.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { resolveLedgerLimits, resolveTaskLimits, resolveTests } from '../config/resolve-settings.ts'
import { refuseSameTask, startTask } from './task.ts'
import type { Team } from './team.ts'

/** One thing to be done without a team. */
export interface NewTask extends Brought {
  readonly id: string
  readonly target: string
}

/** Who thinks for the three of a task. */
export async function taskMinds(
  plans: Readonly<Record<TaskRole, BrainPlan>>,
  task: string,
): Promise<Readonly<Record<TaskRole, Mind>>> {
  const ledger = ledgerOf(task)
  return {
    coder: await toMind(plans.coder, 'coder', ledger),
    reviewer: await toMind(plans.reviewer, 'reviewer', ledger),
    tester: await toMind(plans.tester, 'tester', ledger),
  }
}

/** Starts a task by the configuration; the same one cannot be started while it is under way. */
export async function startConfiguredTask(
  team: Team,
  loaded: LoadedConfig & { readonly repository: NonNullable<LoadedConfig['repository']> },
  minds: Readonly<Record<TaskRole, Mind>>,
  { id, target, ...brought }: NewTask,
): Promise<void> {
  const { config, repository } = loaded
  await refuseSameTask(team, brought.text)
  await startTask(team, {
    id,
    repository: repository.root,
    settings: {
      run: id,
      target,
      minds,
      limits: resolveTaskLimits(config),
      tests: JSON.parse(JSON.stringify(resolveTests(config))),
    },
    brought,
    revision: config.revisions.coordinator,
    budget: resolveLedgerLimits(loaded),
  })
}
