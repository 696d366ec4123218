import { join } from 'node:path'
import { ledgerKeeper, OPEN_BOOKS } from '../../src/agents/ledger-keeper.ts'
import type { Mind } from '../../src/agents/thinking/assignment.ts'
import type { AgentId, EventId, Json, JsonObject, RunId } from '../../src/agents/values.ts'
import type { Brain, Usage } from '../../src/effects/brains/brain.ts'
import { readScenario } from '../../src/effects/brains/scenario.ts'
import { openScriptedBrain } from '../../src/effects/brains/scripted-brain.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { openThinking } from '../../src/effects/thinking/thinking-effects.ts'
import type { Tool } from '../../src/effects/tools/tool.ts'
import { openBlobFiles } from '../../src/journal/blob-files.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import type { LedgerLimits } from '../../src/ledger/ledger.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { openEmbeddedRuntime } from '../../src/runtime/embedded-runtime.ts'
import type { AgentRecord, EffectRecord } from '../../src/runtime/records.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { type GitWorld, openGitWorld } from '../git/world.ts'
import { type Start, thinkingRole } from './thinking-role.ts'

export const RUN = 'run-1' as RunId
export const LEDGER = 'ledger' as AgentId

export const MIND: Mind = {
  brain: 'model',
  contextTokens: 100_000,
  outputTokensMax: 4_096,
  price: { inputPerMillion: 3_000_000, outputPerMillion: 15_000_000 },
  ledger: LEDGER,
}

/** What a world is made with. */
export interface ThinkingSettings {
  readonly brain: Brain
  readonly limits?: Partial<LedgerLimits>
  readonly secrets?: readonly string[]
  readonly isolation?: 'bubblewrap' | 'none'
  readonly serviceUp?: () => boolean
  readonly furtherTools?: readonly Tool[]
  /** Whether the brain asks its model as often as it likes. */
  readonly isAgent?: true
}

/** Agents that think, with everything real but the model. */
export interface ThinkingWorld {
  readonly git: GitWorld
  readonly runtime: Runtime
  /** Starts an agent that plans and codes a story; one that only talks needs no workspace. */
  start(story: string, given?: Partial<Start>, workspace?: 'none'): Promise<AgentId>
  /** Waits until an agent is in one of these states, and gives its record. */
  reach(agent: AgentId, ...states: string[]): Promise<{ state: string | null; data: JsonObject }>
  dataOf(agent: AgentId): Promise<JsonObject>
  /** What is open, and how far it is. */
  effects(): Promise<readonly EffectRecord[]>
  /** Ends the process, so to speak: another world may be opened on the same folder. */
  stop(): Promise<void>
  close(): Promise<void>
}

export function scripted(...replies: readonly object[]): Brain {
  const read = readScenario(JSON.stringify({ replies }), 'test.yaml')
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return openScriptedBrain(read.scenario)
}

export async function openThinkingWorld(settings: ThinkingSettings): Promise<ThinkingWorld> {
  const git = await openGitWorld({ 'a.txt': 'one\n', 'test.sh': 'grep -q two a.txt\n' })
  return openThinkingOn(git, settings)
}

/** On a state folder that may have been worked on before. */
export async function openThinkingOn(
  git: GitWorld,
  settings: ThinkingSettings,
): Promise<ThinkingWorld> {
  const { workspaces, processes, state, base } = git
  const openIsolation = settings.isolation === 'none' ? openUnconfined : openBubblewrap
  const agent = settings.isAgent && { isAgent: settings.isAgent }
  const thinking = openThinking({
    ...git,
    stateFolder: state,
    isolation: await openIsolation(processes, { stateFolder: state }),
    brains: { model: { brain: settings.brain, service: 'model', priceOf, ...agent } },
    testCommands: [{ argv: ['sh', 'test.sh'], reason: 'configured' }],
    testTimeoutMs: 60_000,
    secrets: settings.secrets ?? [],
    furtherTools: settings.furtherTools ?? [],
  })
  const journal = await openSqliteJournal(state)
  const limits: LedgerLimits = { run: {}, story: {}, allowUnpriced: false, ...settings.limits }
  const runtime = await openEmbeddedRuntime({
    journal,
    blobs: openBlobFiles(join(state, 'blobs')),
    roles: [thinkingRole, ledgerKeeper],
    handlers: thinking.handlers,
    services: { model: { probe: async () => settings.serviceUp?.() ?? true } },
    clock: systemClock,
    newId: () => crypto.randomUUID(),
    random: Math.random,
    suspension: { probeIntervalMs: 50 },
  })
  await runtime.createRun(RUN, {})
  await runtime.createAgent({ id: LEDGER, run: RUN, role: 'ledger' })
  const books = limits as unknown as Json
  await runtime.deliver({ id: 'books' as EventId, agent: LEDGER, type: OPEN_BOOKS, payload: books })
  const recordOf = async (id: AgentId) => {
    const [agent] = await journal.loadAgents([id])
    if (agent === undefined) throw new Error(`no agent ${id}`)
    return agent.record
  }
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= runtime
      .close()
      .then(() => thinking.close())
      .then(() => journal.close())
    return stopped
  }
  return {
    git,
    runtime,
    async start(story, given = {}, workspace) {
      if (workspace !== 'none') await workspaces.prepare({ run: RUN, story }, base)
      const id = `coder-${story}` as AgentId
      await runtime.createAgent({ id, run: RUN, role: 'thinker' })
      const start: Start = { run: RUN, story, mind: MIND, turnsMax: 20, ...given }
      const payload = start as unknown as Json
      await runtime.deliver({ id: `start-${story}` as EventId, agent: id, type: 'start', payload })
      return id
    },
    reach: (id, ...states) => waitFor(recordOf, id, states),
    dataOf: async (id) => (await recordOf(id)).data,
    effects: () => journal.readEffects(RUN),
    stop,
    async close() {
      await stop()
      await git.close()
    },
  }
}

const priceOf = async ({ inputTokens, outputTokens }: Usage) =>
  (inputTokens ?? 0) * 3 + (outputTokens ?? 0) * 15

async function waitFor(
  recordOf: (id: AgentId) => Promise<AgentRecord>,
  id: AgentId,
  states: readonly string[],
) {
  for (let i = 0; i < 2_000; i += 1) {
    const { state, data, halted } = await recordOf(id)
    if (halted) throw new Error(`${id} is halted in ${state}`)
    if (state !== null && states.includes(state)) return { state, data }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const { state, data } = await recordOf(id)
  throw new Error(`${id} is in ${state}: ${JSON.stringify(data).slice(0, 2_000)}`)
}
