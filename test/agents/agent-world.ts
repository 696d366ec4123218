import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openAcpBrain } from '../../src/effects/brains/agents/acp-brain.ts'
import { AGENTS } from '../../src/effects/brains/agents/agent-catalog.ts'
import { openHeadlessBrain } from '../../src/effects/brains/agents/headless-brain.ts'
import type { Brain, Turn } from '../../src/effects/brains/brain.ts'
import type { TurnTimeouts } from '../../src/effects/brains/turn-watch.ts'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import type { Isolation } from '../../src/effects/sandbox/sandbox.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { type Answer, says } from '../providers/answer.ts'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import { makeSearchPath } from './installed.ts'
import type { RealAgent } from './real-agents.ts'

/** Other providers' keys, which are all around and none of an agent's business. */
const CANARY = 'canary-of-another-provider'

/** Long enough for the slowest on a busy machine. */
const PATIENT: TurnTimeouts = { firstTokenMs: 80_000, idleMs: 60_000, totalMs: 100_000 }

/** Where all agents are installed. */
export interface AgentWorld {
  readonly folder: string
  readonly path: string
  readonly isolations: Readonly<Record<'bubblewrap' | 'none', Isolation>>
  close(): Promise<void>
}

export async function openAgentWorld(): Promise<AgentWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-agents-'))
  const path = await makeSearchPath(join(folder, 'bin'))
  const processes = openProcesses(folder)
  const isolations = {
    bubblewrap: await openBubblewrap(processes, { stateFolder: folder }),
    none: await openUnconfined(processes, { stateFolder: folder }),
  }
  return {
    folder,
    path,
    isolations,
    async close() {
      await processes.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** One turn of an agent: a provider of its own, a workspace of its own, a home of its own. */
export interface Scene {
  readonly server: ProviderServer
  readonly workspace: string
  readonly turn: Turn
  readonly brain: Brain
  /** What the file says that there is. */
  fileText(): string
  /** The requests of the agent's own loop, as opposed to those for titles and the like. */
  loopRequests(): readonly ProviderServer['requests'][number][]
  /** How many processes work in the workspace. */
  processCount(): number
}

export interface SceneSettings {
  readonly level?: 'bubblewrap' | 'none'
  readonly access?: 'read' | 'write'
  readonly timeouts?: Partial<TurnTimeouts>
  /** What the model answers, one request after another; from the last on, always the same. */
  readonly answers: readonly Answer[]
}

/** Sets a scene, and takes it away again after `use`. */
export async function playScene(
  world: AgentWorld,
  real: RealAgent,
  settings: SceneSettings,
  use: (scene: Scene) => Promise<void>,
): Promise<void> {
  const server = await startProviderServer()
  const place = await mkdtemp(join(world.folder, `${real.agent}-`))
  try {
    await use(await makeScene(world, real, settings, { server, place }))
  } finally {
    await server.close()
    await rm(place, { recursive: true })
  }
}

async function makeScene(
  world: AgentWorld,
  real: RealAgent,
  { level = 'bubblewrap', access = 'write', timeouts, answers }: SceneSettings,
  { server, place }: { readonly server: ProviderServer; readonly place: string },
): Promise<Scene> {
  const workspace = join(place, 'workspace')
  const home = join(place, 'home')
  await Promise.all([mkdir(workspace), mkdir(home)])
  await writeFile(join(workspace, 'a.txt'), 'one\n')
  execFileSync('git', ['init', '--quiet', workspace])
  for (const [name, text] of Object.entries(real.files?.(server.url) ?? {})) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await writeFile(join(home, name), text)
  }
  const isLoop = ({ body }: ProviderServer['requests'][number]) =>
    JSON.stringify(body.tools ?? []).includes('slipway')
  const loopRequests = () => server.requests.filter(isLoop)
  server.answer((request) => {
    if (!isLoop(request)) return says('A title')
    return answers[Math.min(loopRequests().length, answers.length) - 1] ?? says('')
  })
  const open = real.mode === 'acp' ? openAcpBrain : openHeadlessBrain
  const brain = open({
    agent: AGENTS[real.agent],
    isolation: world.isolations[level],
    stateFolder: world.folder,
    environment: {
      ...canariesFor(real.agent),
      ...real.variables(server.url),
      PATH: world.path,
      HOME: home,
    },
    addresses: [server.url],
    ...(real.model === undefined ? {} : { model: real.model }),
    timeouts: { ...PATIENT, ...timeouts },
    budget: { stepsMax: 20, updatesMax: 1_000 },
  })
  return {
    server,
    workspace,
    turn: turnIn(workspace, access),
    brain,
    fileText: () => readFileSync(join(workspace, 'a.txt'), 'utf8'),
    loopRequests,
    processCount: () => countIn(workspace),
  }
}

/** What other agents would want, and what nobody should have. */
function canariesFor(agent: RealAgent['agent']): Record<string, string> {
  const own: readonly string[] = AGENTS[agent].variables
  const all = Object.values(AGENTS).flatMap(({ variables }): readonly string[] => variables)
  const names = all.filter((name) => /KEY|TOKEN/.test(name) && !own.includes(name))
  return Object.fromEntries(
    [...names, 'GITHUB_TOKEN', 'AWS_SECRET_ACCESS_KEY'].map((name) => [name, `${CANARY}-${name}`]),
  )
}

/** Whether a text holds another provider's key. */
export function hasCanary(text: string): boolean {
  return text.includes(CANARY)
}

function turnIn(folder: string, access: 'read' | 'write'): Turn {
  const schema = { type: 'object', properties: { summary: { type: 'string' } } }
  return {
    role: 'coder',
    state: 'CODING',
    story: 'S1',
    number: 1,
    system: 'You are a coder.',
    messages: [{ role: 'user', text: 'Replace one by two in a.txt.' }],
    tools: [{ name: 'done', description: 'Says that the work is ready.', input: schema }],
    outputTokensMax: 4_096,
    workspace: { folder, access },
  }
}

function countIn(folder: string): number {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`).startsWith(folder)
    } catch {
      return false
    }
  }).length
}
