import { readFile, realpath, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { doEach } from '../../do-each.ts'
import { isOfSystem, PRIVATE_HOME } from '../../sandbox/bubblewrap-view.ts'
import { prepareOwnFolder, removeTemporary } from '../../sandbox/own-folder.ts'
import type { Isolation, Sandbox, SandboxMount } from '../../sandbox/sandbox.ts'
import { makeSocketFolder } from '../../sandbox/way-out.ts'
import type { Turn, TurnWorkspace } from '../brain.ts'
import type { Agent, AgentCommand, Confinement, HeadlessCommand, ReadingMeans } from './agent.ts'
import { coveringMounts, homeMounts } from './agent-mounts.ts'
import { type AgentProcess, startAgentProcess } from './agent-process.ts'
import { offeredTools } from './agent-prompt.ts'
import { reachOf } from './agent-reach.ts'
import { secretsOf } from './agent-secrets.ts'
import { findInstallation, type Installation } from './installation.ts'
import { openRenewals, type Renewal } from './renewals.ts'
import {
  type BridgeCommand,
  bridgeCommand,
  openToolServer,
  type ToolServer,
} from './tool-server.ts'

/** Where the socket of our tools is seen inside. */
const INSIDE_FOLDER = '/run/slipway-tools'
const SOCKET = 'tools.sock'

/** Where agents are started, and what is the user's own about it. */
export interface AgentSettings {
  readonly agent: Agent
  readonly isolation: Isolation
  readonly stateFolder: string
  /** The user's environment; of it the agent gets the variables that are its own. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Addresses besides those in its variables, such as one in its own configuration. */
  readonly addresses?: readonly string[]
}

/** Everything around one session of an agent: a folder, a sandbox, our tools. */
export interface AgentPlace {
  readonly workspace: TurnWorkspace
  readonly confinement: Confinement
  readonly tools: ToolServer
  /** How the agent starts the way to our tools. */
  readonly bridge: BridgeCommand
  /** The values that no message may hold. */
  readonly secrets: readonly string[]
  start(wanted: AgentStart): AgentProcess
  /** Ends the agent with all it started. */
  close(): Promise<void>
}

/** How an agent is to be started, besides what is always so. */
export interface AgentStart {
  readonly timeoutMs: number
  /** Put after its own arguments. */
  readonly args?: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
}

/** Makes a place for a session. Rejects with the reason when the agent cannot be started there. */
export async function openAgentPlace(
  settings: AgentSettings,
  command: AgentCommand | HeadlessCommand,
  turn: Turn,
): Promise<AgentPlace> {
  const { isolation } = settings
  const { workspace } = turn
  // In an empty folder it would judge, or write, as if there were no code at all.
  if (workspace === undefined) {
    throw new Error(`${settings.agent.name} needs a workspace, and ${turn.state} has none`)
  }
  const ownFolder = await prepareOwnFolder(settings.stateFolder)
  const installation = await findPrograms(settings, command)
  const cleanups: (() => Promise<unknown>)[] = []
  const close = () => doEach(...cleanups.splice(0).reverse())
  try {
    const socketFolder = await makeSocketFolder(ownFolder)
    cleanups.push(() => removeTemporary(socketFolder))
    const socketPath = join(socketFolder, SOCKET)
    const idPrefix = `call_${turn.messages.length}_`
    const areAnnounced = settings.agent.announcesCalls === true
    const offered = { tools: offeredTools(turn), idPrefix, areAnnounced }
    const tools = await openToolServer({ socketPath, ...offered })
    cleanups.push(() => tools.close())
    const reading = workspace.access === 'read' ? settings.agent.reading : undefined
    const { file } = reading ?? {}
    if (file !== undefined) await writeFile(join(socketFolder, file.name), file.content)
    const isApart = isolation.level !== 'none'
    const renewals = isApart
      ? await openRenewals(settings.agent, homeOf(settings), socketFolder)
      : []
    cleanups.push(...renewals.map(({ finish }) => finish))
    const surroundings = { workspace, installation, socketFolder, renewals }
    const sandbox = await openSandbox(settings, surroundings)
    cleanups.push(() => sandbox.close())
    const folder = isApart ? INSIDE_FOLDER : socketFolder
    const env = {
      ...agentEnvironment(settings, workspace),
      ...installation.variables,
      ...(await readingVariable(settings, reading)),
    }
    const held = file === undefined ? [] : [file.flag, join(folder, file.name)]
    const node = isolation.level === 'container' ? 'node' : await realpath(process.execPath)
    return {
      workspace,
      confinement: isApart ? 'ours' : 'its_own',
      tools,
      bridge: bridgeCommand(node, join(folder, SOCKET)),
      secrets: secretsOf(settings.agent, settings.environment),
      start({ timeoutMs, args = [], variables }) {
        const argv = startLine(installation, [...(reading?.args ?? []), ...held, ...args])
        return startAgentProcess(sandbox, { argv, env: { ...env, ...variables }, timeoutMs })
      },
      close,
    }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}

/** The variable with the settings that hold an agent to reading, where it has one. */
async function readingVariable(
  settings: AgentSettings,
  { settings: held }: ReadingMeans = {},
): Promise<Readonly<Record<string, string>>> {
  if (held === undefined) return {}
  const found = held.files.map((path) =>
    readFile(join(homeOf(settings), path), 'utf8').catch(() => []),
  )
  const texts = (await Promise.all(found)).flat()
  return { [held.variable]: held.make(settings.environment[held.variable], texts) }
}

/** The agent's programs: the one that is started, and the one that an adapter starts. */
interface Programs extends Installation {
  readonly variables: Readonly<Record<string, string>>
}

async function findPrograms(
  { isolation, environment: { PATH = '' } }: AgentSettings,
  command: AgentCommand | HeadlessCommand,
): Promise<Programs> {
  // A container has its own programs.
  if (isolation.level === 'container') {
    return { argv: command.argv, parts: [], folders: [], variables: {} }
  }
  const main = await findInstallation(command.argv, PATH)
  if (main === undefined) throw new Error(`${command.argv[0]} is not installed`)
  const [variable, name] = ('program' in command && command.program) || []
  const other = name === undefined ? undefined : await findInstallation([name], PATH)
  if (variable === undefined || other === undefined) return { ...main, variables: {} }
  return {
    argv: main.argv,
    parts: [...new Set([...main.parts, ...other.parts])],
    folders: main.folders,
    variables: { [variable]: other.argv.at(-1) ?? '' },
  }
}

interface Surroundings {
  readonly workspace: TurnWorkspace
  readonly installation: Installation
  readonly socketFolder: string
  readonly renewals: readonly Renewal[]
}

async function openSandbox(settings: AgentSettings, surroundings: Surroundings): Promise<Sandbox> {
  const { agent, isolation, environment, addresses = [] } = settings
  const { folder, access } = surroundings.workspace
  const told = agent.addresses.flatMap((name) => environment[name] ?? [])
  const reach = reachOf([...told, ...addresses], agent.hosts)
  // Without a sandbox everything is seen, and nothing can be covered.
  const mounts = isolation.level === 'none' ? [] : await mountsFor(settings, surroundings)
  return isolation.open({ workspace: folder, access, ...reach, mounts })
}

async function mountsFor(
  settings: AgentSettings,
  { workspace, installation, socketFolder, renewals }: Surroundings,
): Promise<readonly SandboxMount[]> {
  const { agent } = settings
  const home = await homeMounts(agent, homeOf(settings))
  const isReading = workspace.access === 'read'
  const otherwise = isReading ? await mountsForReading(settings, socketFolder) : []
  const parts = installation.parts.filter((part) => !isOfSystem(part))
  return [
    { outside: socketFolder, inside: INSIDE_FOLDER, access: 'read' },
    ...parts.map((part): SandboxMount => ({ outside: part, inside: part, access: 'read' })),
    ...home.filter(({ inside }) => !otherwise.some((mount) => mount.inside === inside)),
    ...otherwise,
    ...renewals.map(({ mount }) => mount),
    ...(await coveringMounts(agent, workspace.folder, join(socketFolder, 'empty'))),
  ]
}

/** A file of the home that an agent which only reads sees otherwise, where there is one. */
async function mountsForReading(
  settings: AgentSettings,
  folder: string,
): Promise<readonly SandboxMount[]> {
  const { home } = settings.agent.reading ?? {}
  if (home === undefined) return []
  const text = await readFile(join(homeOf(settings), home.path), 'utf8').catch(() => undefined)
  if (text === undefined) return []
  const outside = join(folder, basename(home.path))
  await writeFile(outside, home.make(text), { mode: 0o600 })
  return [{ outside, inside: join(PRIVATE_HOME, home.path), access: 'read' }]
}

function homeOf({ environment }: AgentSettings): string {
  return environment.HOME ?? homedir()
}

function agentEnvironment(
  settings: AgentSettings,
  { access }: TurnWorkspace,
): Readonly<Record<string, string>> {
  const { agent, isolation, environment } = settings
  const own = agent.variables.flatMap((name) => {
    const value = environment[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  // Without a sandbox its configuration is where it always is.
  const home = isolation.level === 'none' ? { HOME: homeOf(settings) } : {}
  const permissions = agent.permissions?.[access]
  return { ...home, ...agent.environment, ...permissions, ...Object.fromEntries(own) }
}

/** The line that starts the agent; an interpreter of its own is found by what it starts, too. */
function startLine(
  { argv, folders }: Installation,
  more: readonly string[],
): readonly [string, ...string[]] {
  if (folders.length === 0) return [...argv, ...more]
  const script = 'PATH="$1:$PATH"; shift; exec "$@"'
  return ['sh', '-c', script, 'sh', folders.join(':'), ...argv, ...more]
}
