import type { TeamSettings } from '../../agents/team/protocol.ts'
import { redact } from '../../effects/guards/redaction.ts'
import { chooseIsolation } from '../../effects/sandbox/choose-isolation.ts'
import type { ThinkingRole } from '../config/brain-outline.ts'
import type { BrainPlan } from '../config/brains.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import type { Environment } from '../config/place.ts'
import {
  resolveIsolation,
  resolveLedgerLimits,
  resolvePlanReview,
  resolveRuntime,
  resolveTeamLimits,
  resolveTests,
} from '../config/resolve-settings.ts'
import { openTrustedTools } from '../mcp-servers.ts'
import { journalSource } from '../view/run-source.ts'
import { openBrains, secretsOfBrains } from './brains.ts'
import { type NewTask, startConfiguredTask } from './configured-task.ts'
import { forgeOpener } from './github.ts'
import { requireBrains, requireMinds, TASK_ROLES, TEAM_ROLES } from './minds.ts'
import { refuseSameSpec, refuseSpecOf } from './same-spec.ts'
import { openTeam, type RunStart, type Team } from './team.ts'

/** A team as the user configured it, and how its runs are started. */
export interface ConfiguredTeam {
  readonly team: Team
  /** Takes in what the user's repository has by now; refuses a branch that nothing can begin on. */
  takeIn(target: string): Promise<void>
  /** Starts a run; the same spec cannot be started while it is under way. */
  start(run: NewRun): Promise<void>
  /** Starts a task; the same one cannot be started while it is under way. */
  startTask(task: NewTask): Promise<void>
  /** Brings a further spec to a run that goes on; the same one cannot be while it is under way. */
  bring(run: string, spec: NewSpec): Promise<void>
  /** A human's words without secrets: they go into the journal and into prompts. */
  clean(text: string): string
}

export interface NewRun extends NewSpec {
  readonly id: string
  readonly target: string
}

/** A document, or a wish to be interviewed about. */
export interface NewSpec {
  readonly document: string
  readonly isWish: boolean
}

/** Opens a team on a state folder by the configuration that holds in a repository. */
export async function openConfiguredTeam(
  loaded: LoadedConfig & { readonly repository: NonNullable<LoadedConfig['repository']> },
  stateFolder: string,
  environment: Environment,
): Promise<ConfiguredTeam> {
  const { config, repository } = loaded
  const plans = await requireBrains(config, environment)
  const tests = resolveTests(config)
  const isolation = resolveIsolation(config, stateFolder, environment)
  const secrets = [...secretsOfBrains(plans, environment)]
  const clean = (text: string) => redact(text, secrets)
  // Known only when the forge is opened, and a secret for everybody from then on.
  const openForge = forgeOpener(loaded, environment, (token) => secrets.push(token))
  const team = await openTeam({
    stateFolder,
    ...(openForge && { openForge }),
    openIsolation: (processes) => chooseIsolation(processes, isolation),
    openBrains: (opened) =>
      openBrains(plans, { isolation: opened, stateFolder, environment, secrets }),
    async openFurtherTools(processes) {
      const known = { environment, secrets }
      const opened = await openTrustedTools(repository.root, stateFolder, processes, known)
      // What the user gave to a server is a secret for everybody too.
      secrets.push(...opened.secrets)
      return opened
    },
    ...resolveRuntime(config),
    hosts: config.isolation.hosts,
    testTimeoutMs: tests.timeoutMs ?? 1_800_000,
    requireReport: tests.requireReport ?? false,
    secrets,
    ...(tests.commands && {
      testCommands: tests.commands.map(({ argv, cwd }) => ({
        argv: argv as [string, ...string[]],
        reason: 'it is configured',
        ...(cwd !== undefined && { cwd }),
      })),
    }),
  })
  // One after the other, so that the second of two that are the same finds the first.
  let starting: Promise<void> = Promise.resolve()
  const inTurn = (start: () => Promise<void>) => {
    const started = starting.then(start)
    starting = started.catch(() => {})
    return started
  }
  const startTask = async (task: NewTask) => {
    const minds = await requireMinds(plans, TASK_ROLES, task.id, resolveLedgerLimits(loaded))
    await startConfiguredTask(team, loaded, minds, { ...task, text: clean(task.text) })
  }
  const specOf = ({ document, isWish }: NewSpec) => ({
    document: clean(document),
    preview: config.review.spec,
    isWish,
  })
  const startRun = async (run: NewRun) => {
    const spec = specOf(run)
    await refuseSameSpec(journalSource(team.journal), { ...run, document: spec.document })
    await startConfiguredRun(team, loaded, plans, run, spec)
  }
  const bring = async (id: string, brought: NewSpec) => {
    const spec = specOf(brought)
    await refuseSpecOf(journalSource(team.journal), { id, ...spec })
    await team.bring(id, spec)
  }
  return {
    team,
    clean,
    takeIn: (target) => team.takeIn(repository.root, target),
    bring: (run, spec) => inTurn(() => bring(run, spec)),
    startTask: (task) => inTurn(() => startTask(task)),
    start: (run) => inTurn(() => startRun(run)),
  }
}

async function startConfiguredRun(
  team: Team,
  loaded: LoadedConfig & { readonly repository: NonNullable<LoadedConfig['repository']> },
  brains: Readonly<Record<ThinkingRole, BrainPlan>>,
  { id, target }: NewRun,
  spec: RunStart['spec'],
): Promise<void> {
  const { config, repository } = loaded
  const budget = resolveLedgerLimits(loaded)
  const settings: TeamSettings = {
    run: id,
    target,
    minds: await requireMinds(brains, TEAM_ROLES, id, budget),
    limits: resolveTeamLimits(config),
    planReview: resolvePlanReview(config),
    tests: JSON.parse(JSON.stringify(resolveTests(config))),
  }
  await team.start({
    id,
    repository: repository.root,
    settings,
    spec,
    coders: config.team.coders,
    architects: config.team.architects,
    revisions: config.revisions,
    budget,
  })
}
