import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openGit } from '../../effects/git/git.ts'
import { openProcesses } from '../../effects/process/processes.ts'
import { chooseIsolation } from '../../effects/sandbox/choose-isolation.ts'
import type { ThinkingRole } from '../config/brain-outline.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import type { Environment } from '../config/place.ts'
import { resolveIsolation, resolveLedgerLimits } from '../config/resolve-settings.ts'
import { refuseTrackedState } from '../tracked-state.ts'
import { UsageError } from '../usage-error.ts'
import type { RunSource } from '../view/run-source.ts'
import { openBrains } from './brains.ts'
import { unlessGone } from './engine-error.ts'
import { findGithub } from './github.ts'
import { requireIsolationOfRuns } from './isolation-of-runs.ts'
import { requireBrains, requireMinds } from './minds.ts'

/**
 * Tries what an engine needs to open by these settings and keys, for the runs that are there and
 * for roles that are to begin something, and throws what stands in the way. Another engine may be at work on the state folder,
 * so nothing in it is touched.
 */
export async function rehearseOpening(
  loaded: LoadedConfig,
  stateFolder: string,
  environment: Environment,
  { roles, runs }: { readonly roles: readonly ThinkingRole[]; readonly runs: RunSource },
): Promise<void> {
  const { config, repository } = loaded
  if (repository === undefined) throw new UsageError('This is not a git repository.')
  await refuseTrackedState(repository, stateFolder)
  const plans = await requireBrains(config, environment)
  await requireMinds(plans, roles, '', resolveLedgerLimits(loaded))
  // The sandboxes of a state folder are cleared when they are opened there.
  const folder = await mkdtemp(join(tmpdir(), 'slipway-rehearsal-'))
  const processes = openProcesses(folder)
  try {
    const settings = resolveIsolation(config, folder, environment)
    const isolation = await chooseIsolation(processes, settings)
    await unlessGone(requireIsolationOfRuns(runs, isolation))
    await openBrains(plans, { isolation, stateFolder: folder, environment, secrets: [] })
    if (config.forge.kind === 'local') return
    await findGithub(config, repository, environment, { git: openGit(processes), processes })
  } finally {
    await processes.close()
    await rm(folder, { recursive: true, force: true })
  }
}
