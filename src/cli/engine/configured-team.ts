import { ledgerOf, type TeamSettings } from '../../agents/team/protocol.ts'
import { redact } from '../../effects/guards/redaction.ts'
import { chooseIsolation } from '../../effects/sandbox/choose-isolation.ts'
import { resolveBrains, toMind } from '../config/brains.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import type { Environment } from '../config/place.ts'
import {
  resolveIsolation,
  resolveLedgerLimits,
  resolvePlanReview,
  resolveTeamLimits,
  resolveTests,
} from '../config/resolve-settings.ts'
import { openTrustedTools } from '../mcp-servers.ts'
import { UsageError } from '../usage-error.ts'
import { openBrains, secretsOfBrains } from './brains.ts'
import { forgeOpener } from './github.ts'
import { openTeam, type RunStart, type Team } from './team.ts'

/** A team as the user configured it, and how its runs are started. */
export interface ConfiguredTeam {
  readonly team: Team
  /** Starts a run of a document; `isWish` when it is to be interviewed about. */
  start(run: NewRun): Promise<void>
  /** A human's words without secrets: they go into the journal and into prompts. */
  clean(text: string): string
}

export interface NewRun {
  readonly id: string
  readonly document: string
  readonly target: string
  readonly isWish: boolean
}

/** Opens a team on a state folder by the configuration that holds in a repository. */
export async function openConfiguredTeam(
  loaded: LoadedConfig & { readonly repository: NonNullable<LoadedConfig['repository']> },
  stateFolder: string,
  environment: Environment,
): Promise<ConfiguredTeam> {
  const { config, repository } = loaded
  const plans = await resolveBrains(config, environment)
  if (!plans.ok) throw new UsageError(plans.problems.join('\n'))
  const tests = resolveTests(config)
  const isolation = resolveIsolation(config, stateFolder, environment)
  const secrets = secretsOfBrains(plans.brains, environment)
  const clean = (text: string) => redact(text, secrets)
  const openForge = forgeOpener(loaded, environment)
  const team = await openTeam({
    stateFolder,
    ...(openForge && { openForge }),
    openIsolation: (processes) => chooseIsolation(processes, isolation),
    openBrains: (opened) =>
      openBrains(plans.brains, { isolation: opened, stateFolder, environment }),
    openFurtherTools: (processes) =>
      openTrustedTools(repository.root, stateFolder, processes, environment),
    hosts: config.isolation.hosts,
    testTimeoutMs: tests.timeoutMs ?? 1_800_000,
    secrets,
    ...(tests.commands && {
      testCommands: tests.commands.map(({ argv, cwd }) => ({
        argv: argv as [string, ...string[]],
        reason: 'it is configured',
        ...(cwd !== undefined && { cwd }),
      })),
    }),
  })
  return {
    team,
    clean,
    async start({ id, document, target, isWish }) {
      const ledger = ledgerOf(id)
      const [pm, architect, coder] = await Promise.all([
        toMind(plans.brains.pm, 'pm', ledger),
        toMind(plans.brains.architect, 'architect', ledger),
        toMind(plans.brains.coder, 'coder', ledger),
      ])
      const settings: TeamSettings = {
        run: id,
        target,
        minds: { pm, architect, coder },
        limits: resolveTeamLimits(config),
        planReview: resolvePlanReview(config),
        tests: JSON.parse(JSON.stringify(tests)),
      }
      const start: RunStart = {
        id,
        repository: repository.root,
        settings,
        spec: { document: clean(document), preview: config.review.spec, isWish },
        coders: config.team.coders,
        architects: config.team.architects,
        revisions: config.revisions,
        budget: resolveLedgerLimits(loaded),
      }
      await team.start(start)
    },
  }
}
