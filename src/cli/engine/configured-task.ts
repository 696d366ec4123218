import type { Brought, TaskRole } from '../../agents/coordinator/protocol.ts'
import type { Mind } from '../../agents/thinking/assignment.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { resolveLedgerLimits, resolveTaskLimits, resolveTests } from '../config/resolve-settings.ts'
import { journalSource } from '../view/run-source.ts'
import { refuseSameTask, startTask } from './task.ts'
import type { Team } from './team.ts'

/** One thing to be done without a team. */
export interface NewTask extends Brought {
  readonly id: string
  readonly target: string
}

/** Starts a task by the configuration; the same one cannot be started while it is under way. */
export async function startConfiguredTask(
  team: Team,
  loaded: LoadedConfig & { readonly repository: NonNullable<LoadedConfig['repository']> },
  minds: Readonly<Record<TaskRole, Mind>>,
  { id, target, ...brought }: NewTask,
): Promise<void> {
  const { config, repository } = loaded
  await refuseSameTask(journalSource(team.journal), brought.text)
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
