import { join } from 'node:path'
import { coordinator } from '../../agents/coordinator/coordinator.ts'
import { ledgerKeeper, OPEN_BOOKS } from '../../agents/ledger-keeper.ts'
import { architect } from '../../agents/team/architect.ts'
import { coder } from '../../agents/team/coder.ts'
import { dispatcherRole } from '../../agents/team/dispatcher.ts'
import { mergeQueueRole } from '../../agents/team/merge-queue.ts'
import { pmRole } from '../../agents/team/pm.ts'
import { SPEC_BROUGHT, type SpecBrought } from '../../agents/team/pm-case.ts'
import {
  agentIdOf,
  dispatcherOf,
  ledgerOf,
  mergeQueueOf,
  type TeamSettings,
} from '../../agents/team/protocol.ts'
import { storyRole } from '../../agents/team/story-agent.ts'
import type { EventId, Json, JsonObject, RunId } from '../../agents/values.ts'
import type { BrainEvent } from '../../effects/brains/brain.ts'
import { doEach } from '../../effects/do-each.ts'
import type { Forge } from '../../effects/forge/forge.ts'
import { type LocalForgeParts, openLocalForge } from '../../effects/forge/local-forge.ts'
import {
  FORGE_SERVICE,
  forgeService,
  openPullRequestHandler,
} from '../../effects/forge/pull-request-handler.ts'
import { type Git, openGit } from '../../effects/git/git.ts'
import { openRepositories, type Repositories } from '../../effects/git/repositories.ts'
import { MACHINE_SERVICE, machineService } from '../../effects/machine.ts'
import { mergeHandler } from '../../effects/merge/merge-handler.ts'
import { forgetUnsettled } from '../../effects/merge/unsettled.ts'
import { openProcesses, type Processes } from '../../effects/process/processes.ts'
import type { Isolation } from '../../effects/sandbox/sandbox.ts'
import { addArchitectHandler } from '../../effects/stories/add-architect-handler.ts'
import { loadStoriesHandler } from '../../effects/stories/load-stories-handler.ts'
import { runTestsHandler } from '../../effects/testing/run-tests-handler.ts'
import type { TestCommand } from '../../effects/testing/test-result.ts'
import { leaveWorkspaceHandler } from '../../effects/thinking/leave-workspace-handler.ts'
import type { NamedBrain } from '../../effects/thinking/think-handler.ts'
import { openThinking, type ThinkingEffects } from '../../effects/thinking/thinking-effects.ts'
import type { Tool } from '../../effects/tools/tool.ts'
import { readDiff } from '../../effects/workspace/diff.ts'
import type { Owner } from '../../effects/workspace/place.ts'
import { removeFolder } from '../../effects/workspace/removal.ts'
import {
  checkpointHandler,
  cleanUpHandler,
  prepareWorkspaceHandler,
} from '../../effects/workspace/workspace-handlers.ts'
import {
  openWorkspaces,
  type Reconciliation,
  type Workspaces,
} from '../../effects/workspace/workspaces.ts'
import { openBlobFiles } from '../../journal/blob-files.ts'
import { openSqliteJournal } from '../../journal/sqlite/sqlite-journal.ts'
import type { LedgerLimits } from '../../ledger/ledger.ts'
import type { BlobStore } from '../../runtime/blobs.ts'
import { systemClock } from '../../runtime/clock.ts'
import type { EffectHandler, Service } from '../../runtime/effect-handler.ts'
import { openEmbeddedRuntime } from '../../runtime/embedded-runtime.ts'
import type { Limits } from '../../runtime/handle.ts'
import type { Journal } from '../../runtime/journal.ts'
import type { NewAgent, Runtime } from '../../runtime/runtime.ts'
import type { SuspensionPolicy } from '../../runtime/suspension.ts'
import { printable } from '../printable.ts'
import { journalSource } from '../view/run-source.ts'
import { requireBrainsOfRuns } from './brains-of-runs.ts'
import { requireIsolationOfRuns } from './isolation-of-runs.ts'
import { requireTarget, type TargetGround, takeIn } from './target.ts'
import { findWantedWorkspaces } from './wanted-workspaces.ts'

/** What a team works with. */
export interface TeamParts {
  readonly stateFolder: string
  readonly openIsolation: (processes: Processes) => Promise<Isolation>
  /** Opens who thinks, once it is known how commands are confined. */
  readonly openBrains: (isolation: Isolation) => Promise<OpenedBrains>
  /** Opens the tools of the user's own servers; there are none when absent. */
  readonly openFurtherTools?: (processes: Processes) => Promise<FurtherTools>
  readonly hosts: readonly string[]
  readonly testCommands?: readonly TestCommand[]
  readonly testTimeoutMs: number
  /** Whether exit code 0 is not enough of any test command. */
  readonly requireReport?: boolean
  /** Whether runs are gone on with unconfined although they began confined. */
  readonly mayLackIsolation?: true
  readonly secrets: readonly string[]
  readonly onEvent?: (effect: string, event: BrainEvent) => void
  readonly suspension?: Partial<SuspensionPolicy>
  readonly restarts?: Pick<Limits, 'restartsMax' | 'restartWindowMs'>
  /** How often a turn is tried before its agent is suspended; five times unless said. */
  readonly thinkAttemptsMax?: number
  /** Where pull requests are; records on this machine when absent. Its service is `forge`. */
  readonly openForge?: (parts: LocalForgeParts & { processes: Processes }) => Promise<Forge>
}

/** Tools that are there for as long as the team is. */
interface FurtherTools {
  readonly tools: readonly Tool[]
  close(): Promise<void>
}

/** Who thinks, and what that depends on, by the names that brains give. */
export interface OpenedBrains {
  readonly brains: Readonly<Record<string, NamedBrain>>
  readonly services: Readonly<Record<string, Service>>
}

/** What one run is started with. */
export interface RunStart {
  readonly id: string
  /** The user's repository, which is only read. */
  readonly repository: string
  readonly settings: TeamSettings
  readonly spec: Omit<SpecBrought, 'settings'>
  readonly coders: number
  readonly architects: number
  readonly revisions: { readonly coder: 'D' | 'F'; readonly architect: 'D' | 'I' }
  readonly budget: LedgerLimits
}

/** Everything that works on the runs of one state folder, in this process. */
export interface Team {
  readonly runtime: Runtime
  readonly journal: Journal
  readonly blobs: BlobStore
  readonly git: Git
  readonly repositories: Repositories
  readonly workspaces: Workspaces
  readonly isolation: Isolation
  /** Refuses to go on with a run that thinks with what is not there. */
  requireBrains(run: string): Promise<void>
  /** Refuses to go on unconfined with a run that began confined. */
  requireIsolation(run: string): Promise<void>
  /** Takes in what the user's repository has by now, for work on that branch. */
  takeIn(repository: string, target: string): Promise<void>
  /** Starts a run, or finds it started. */
  start(run: RunStart): Promise<void>
  /** Brings a further spec to a run, whose settings hold for it too. */
  bring(run: string, spec: Omit<SpecBrought, 'settings'>): Promise<void>
  close(): Promise<void>
}

/**
 * Opens a team on a state folder, and goes on with what it was at. Where that is refused, the
 * folder is free for the next.
 */
export async function openTeam(parts: TeamParts): Promise<Team> {
  const journal = await openSqliteJournal(parts.stateFolder)
  const processes = openProcesses(parts.stateFolder)
  return openOn(parts, journal, processes).catch(async (error) => {
    await Promise.allSettled([processes.close(), journal.close()])
    throw error
  })
}

async function openOn(parts: TeamParts, journal: Journal, processes: Processes): Promise<Team> {
  const { stateFolder } = parts
  await processes.endOrphans()
  const git = openGit(processes)
  const repositories = await openRepositories(git, stateFolder)
  const workspaces = openWorkspaces(git, repositories, stateFolder)
  for (const note of repositories.notes) tellUser(note)
  reportStart(await workspaces.reconcile(await findWantedWorkspaces(journal)))
  await removeFolder(join(stateFolder, 'gate'))
  const isolation = await parts.openIsolation(processes)
  const source = journalSource(journal)
  const requireIsolation = async (run?: string) => {
    if (!parts.mayLackIsolation) await requireIsolationOfRuns(source, isolation, run)
  }
  await requireIsolation()
  const folder = join(stateFolder, 'pull-requests')
  const storage = { git, repositories, folder, processes, report: tellUser }
  const forge = await (parts.openForge ?? openLocalForge)(storage)
  const { brains, services } = await parts.openBrains(isolation)
  const requireBrains = (run?: string) => requireBrainsOfRuns(source, Object.keys(brains), run)
  await requireBrains()
  const further = await parts.openFurtherTools?.(processes)
  const thinking = openThinking({
    ...parts,
    ...{ brains, git, repositories, workspaces, isolation },
    furtherTools: further?.tools ?? [],
  })
  const blobs = openBlobFiles(join(stateFolder, 'blobs'))
  const ground = { stateFolder, git, repositories, workspaces, isolation, forge, thinking, journal }
  const runtime: Runtime = await openEmbeddedRuntime({
    journal,
    blobs,
    roles: ROLES,
    handlers: handlersOf(parts, ground, () => runtime),
    answeredKinds: ['ask_human'],
    services: { ...services, ...servicesOf(parts, ground) },
    clock: systemClock,
    newId: () => crypto.randomUUID(),
    random: Math.random,
    ...(parts.suspension && { suspension: parts.suspension }),
    ...(parts.restarts && { limits: parts.restarts }),
  })
  return {
    runtime,
    journal,
    blobs,
    git,
    repositories,
    workspaces,
    isolation,
    requireBrains,
    requireIsolation,
    takeIn: (repository, target) => takeIn(ground, repository, target),
    start: (run) => startRun(runtime, ground, run),
    bring: (run, spec) => bringSpec(runtime, journal, run as RunId, spec),
    close: () =>
      doEach(
        () => runtime.close(),
        () => thinking.close(),
        () => further?.close(),
        () => processes.close(),
        () => journal.close(),
      ),
  }
}

/** Says what a start found damaged. Whoever needs what failed is told again; all others work. */
function reportStart({ kept, mended, failed }: Reconciliation): void {
  const of = ({ run, story }: Owner) => `the workspace of ${story} in ${run}`
  const lines = [
    ...kept.map(({ folder, count }) => `${folder} was kept: ${count} in it stored nowhere else`),
    ...mended.map((one) => `${of(one)} was damaged, and mended from its files: ${one.reason}`),
    ...failed.map((one) => `${of(one)} could not be restored or removed: ${one.reason}`),
  ]
  for (const line of lines) tellUser(line)
}

function tellUser(line: string): void {
  process.stderr.write(`slipway: ${printable(line)}\n`)
}

/** Every role that a team has. */
export const ROLES = [
  pmRole,
  architect('D'),
  architect('I'),
  coder('D'),
  coder('F'),
  storyRole,
  dispatcherRole,
  mergeQueueRole,
  ledgerKeeper,
  coordinator('1'),
  coordinator('2'),
]

interface Ground {
  readonly git: Git
  readonly repositories: Repositories
  readonly workspaces: Workspaces
  readonly isolation: Isolation
  readonly forge: Forge
  readonly thinking: ThinkingEffects
  readonly journal: Journal
}

/** What work depends on beside models: the machine, and a forge that is not on it. */
function servicesOf({ stateFolder, hosts }: TeamParts, { isolation, forge }: Ground) {
  return {
    [MACHINE_SERVICE]: machineService(isolation, stateFolder, hosts),
    ...(forge.kind !== 'local' && { [FORGE_SERVICE]: forgeService(forge) }),
  }
}

function handlersOf(
  parts: TeamParts,
  { git, repositories, workspaces, isolation, forge, thinking, journal }: Ground,
  runtime: () => Runtime,
): Readonly<Record<string, EffectHandler>> {
  const { stateFolder, hosts, secrets } = parts
  const tests = runTestsHandler({
    openSandbox: (workspace) => isolation.open({ workspace, access: 'write', hosts }),
    rewind: (owner) => workspaces.rewind(owner),
    timeoutMs: parts.testTimeoutMs,
    outputBytesMax: 1_000_000,
    secrets,
  })
  const forget = (owner: Owner) => forgetUnsettled(git, repositories.work, owner)
  const diffOf = (from: string, to: string) => readDiff(git, repositories, { from, to }, secrets)
  return {
    ...thinking.handlers,
    prepare_workspace: prepareWorkspaceHandler(workspaces, forge),
    checkpoint: checkpointHandler(workspaces, diffOf, secrets),
    clean_up: cleanUp(cleanUpHandler(workspaces, forget), thinking),
    run_tests: tests,
    open_pull_request: openPullRequestHandler(forge, secrets),
    merge: mergeHandler({ git, repositories, forge, stateFolder, tests, secrets }),
    load_stories: loadStoriesHandler(runtime, journal),
    add_architect: addArchitectHandler(runtime, journal),
    leave_workspace: leaveWorkspaceHandler(workspaces, thinking.desks),
  }
}

/** A generation that leaves no workspace behind has nothing to clean up. */
function cleanUp(workspaces: EffectHandler, { desks }: ThinkingEffects): EffectHandler {
  return {
    ...workspaces,
    async run(effect, context) {
      const { run, story } = (effect.input ?? {}) as JsonObject
      if (typeof run !== 'string' || typeof story !== 'string') return { ok: true, value: null }
      await desks.clear({ run, story })
      return workspaces.run(effect, context)
    },
  }
}

async function startRun(
  runtime: Runtime,
  ground: TargetGround & Pick<Ground, 'isolation'>,
  { id, repository, settings, spec, coders, architects, revisions, budget }: RunStart,
): Promise<void> {
  await takeIn(ground, repository, settings.target)
  if (ground.forge.kind !== 'local') await requireTarget(ground.forge, settings.target)
  const run = id as RunId
  const config = { settings: settings as unknown as Json, revisions }
  const several = (count: number, role: 'architect' | 'coder') =>
    Array.from({ length: count }, (_, i) => ({
      id: agentIdOf(id, `${role}-${i + 1}`),
      role: `${role}@${revisions[role]}`,
    }))
  // In one commit: what is killed meanwhile has started a whole run, or none.
  await runtime.createRun(run, { ...config, isolation: ground.isolation.level }, [
    toldOnce(id, { id: ledgerOf(id), role: 'ledger' }, OPEN_BOOKS, budget),
    { id: dispatcherOf(id), role: 'dispatcher' },
    { id: mergeQueueOf(id), role: 'merge-queue' },
    ...several(architects, 'architect'),
    ...several(coders, 'coder'),
    toldOnce(id, { id: agentIdOf(id, 'pm'), role: 'pm' }, SPEC_BROUGHT, {
      ...spec,
      settings,
    } satisfies SpecBrought),
  ])
}

/** An agent of a new run that begins with being told something. */
export function toldOnce(
  run: string,
  agent: Omit<NewAgent, 'told'>,
  type: string,
  payload: unknown,
): NewAgent {
  const id = `${run}:${type}` as EventId
  return { ...agent, told: { id, type, payload: payload as Json } }
}

/** Each spec has a product manager of its own, and all have the same architects and coders. */
async function bringSpec(
  runtime: Runtime,
  journal: Journal,
  run: RunId,
  spec: Omit<SpecBrought, 'settings'>,
): Promise<void> {
  const known = (await journal.readRuns()).find(({ id }) => id === run)
  if (known === undefined) throw new Error(`there is no run ${run}`)
  const settings = known.config.settings as unknown as TeamSettings
  const payload = { ...spec, settings } satisfies SpecBrought
  const count = (await journal.readAgents(run)).filter(({ role }) => role === 'pm').length
  for (let i = count + 1; ; i += 1) {
    const id = agentIdOf(run, `pm-${i}`)
    const pm = toldOnce(id, { id, role: 'pm' }, SPEC_BROUGHT, payload)
    // Where it exists, somebody else brought one at the same moment.
    if ((await runtime.createAgent({ ...pm, run })) === 'created') return
  }
}
