import {
  ABORT_WANTED,
  type Brought,
  coordinatorOf,
  FOLLOW_UP_BROUGHT,
  PROPOSAL_CONFIRMED,
  type TaskLimits,
  type TaskMode,
  type TaskSettings,
} from '../../src/agents/coordinator/protocol.ts'
import {
  type Round,
  roundOf,
  type TaskWork,
  taskWorkOf,
} from '../../src/agents/coordinator/task-work.ts'
import { ledgerOf } from '../../src/agents/team/protocol.ts'
import type { EventId, Json, RunId } from '../../src/agents/values.ts'
import { startTask, type TaskStart } from '../../src/cli/engine/task.ts'
import { openTeam, type Team } from '../../src/cli/engine/team.ts'
import type { Brain } from '../../src/effects/brains/brain.ts'
import type { Forge } from '../../src/effects/forge/forge.ts'
import { openLocalForge } from '../../src/effects/forge/local-forge.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import type { LedgerLimits } from '../../src/ledger/ledger.ts'
import type { AgentRecord, StoredRow } from '../../src/runtime/records.ts'
import { replay } from '../../src/runtime/replay.ts'
import { type GitWorld, openGitWorld, plainGit } from '../git/world.ts'
import { type Reply, scripted } from '../team/replies.ts'
import { recordCoverage } from './coverage.ts'

const RUN = 'task-1'
const STANDSTILL_MS_MAX = 60_000

/** What a world is made with. */
export interface TaskWorldSettings {
  readonly revision: '1' | '2'
  readonly replies: readonly Reply[]
  readonly mode?: TaskMode
  readonly isConfirmed?: boolean
  readonly text?: string
  readonly files?: Readonly<Record<string, string>>
  readonly limits?: Partial<TaskLimits>
  readonly budget?: Partial<LedgerLimits>
  readonly tests?: TaskSettings['tests']
  /** Nothing unless said: to open a sandbox takes longer than most of these tasks. */
  readonly isolation?: 'bubblewrap' | 'none'
  /** Whether the services answer when they are asked. */
  readonly isUp?: () => boolean
  readonly suspensionMs?: number
  /** Stops the task at the moment when it comes into that state, also if it is left at once. */
  readonly abortsIn?: string
  readonly forge?: (local: Forge) => Forge
  /** Another brain in the place of the script, for one of the three. */
  readonly brains?: Readonly<Partial<Record<'coder' | 'reviewer' | 'tester', Brain>>>
  /** Whether the coder is an agent with hands of its own. */
  readonly isAgent?: boolean
}

/** What somebody was asked, with everything that they were told. */
interface Told {
  readonly who: string
  readonly task: string
  readonly state: string
  readonly number: number
  readonly text: string
  readonly tools: readonly string[]
}

/** A task on a real repository with real tests; only the models are scripted. */
export interface TaskWorld {
  readonly git: GitWorld
  readonly told: readonly Told[]
  team(): Team
  agent(): Promise<AgentRecord>
  work(): Promise<TaskWork>
  rounds(): Promise<readonly Round[]>
  rows(): Promise<readonly StoredRow[]>
  /** The moves so far, as `from event to`. */
  moves(): Promise<string[]>
  until(holds: (agent: AgentRecord) => boolean): Promise<AgentRecord>
  untilIn(state: string): Promise<AgentRecord>
  /** Waits until the task is over for now, and gives its outcome. */
  outcome(): Promise<string | null>
  confirm(): Promise<void>
  abort(): Promise<void>
  followUp(text: string, mode?: TaskMode): Promise<void>
  /** A file on the branch of the task; undefined where there is none. */
  branch(path: string): string | undefined
  reopen(changed?: Partial<TaskWorldSettings>): Promise<void>
  close(): Promise<void>
}

/** A small script with a test of its own. */
const FILES = {
  'test.sh': 'for t in tests/*.sh; do echo "$t"; sh "$t" || exit 1; done\n',
  'sum.sh': 'echo $(($1 + $2))\n',
  'tests/sum.sh': 'test "$(sh sum.sh 1 2)" = 3\n',
}

/** The same as a package, with the runner that Node brings. */
export const PACKAGE = {
  'package.json': '{ "name": "sum", "type": "module", "scripts": { "test": "node --test" } }\n',
  'sum.js': 'export const sum = (a, b) => a + b\n',
  'sum.test.js': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from './sum.js'

test('it adds', () => assert.equal(sum(1, 2), 3))
`,
}

const TASK = 'Add a function that doubles a number.'

const LIMITS: TaskLimits = {
  planningTurns: 4,
  codingTurns: 6,
  fixingTurns: 6,
  reviewTurns: 6,
  taskRounds: 3,
  sameFailures: 3,
}

function settingsOf({ limits, tests, isAgent }: TaskWorldSettings): TaskSettings {
  const mind = (brain: string) => ({
    brain,
    contextTokens: 100_000,
    outputTokensMax: 4_096,
    price: { inputPerMillion: 0, outputPerMillion: 0 },
    ledger: ledgerOf(RUN),
  })
  // A session of an agent is many requests.
  const coder = { ...mind('coder'), ...(isAgent && { sessionTokensMax: 4_000_000 }) }
  return {
    run: RUN,
    target: 'main',
    minds: { coder, reviewer: mind('reviewer'), tester: mind('tester') },
    limits: { ...LIMITS, ...limits },
    tests: tests ?? { commands: [{ argv: ['sh', 'test.sh'] }] },
  }
}

function startOf(git: GitWorld, settings: TaskWorldSettings): TaskStart {
  const { mode = 'implementation', isConfirmed = false, text = TASK } = settings
  return {
    id: RUN,
    repository: git.user,
    settings: settingsOf(settings),
    brought: { text, mode, isConfirmed },
    revision: settings.revision,
    budget: { run: {}, story: {}, allowUnpriced: true, ...settings.budget },
  }
}

function listening(who: string, brain: Brain, told: Told[]): Brain {
  return {
    ...brain,
    think(turn, signal) {
      const { task = '', state, number, messages, tools } = turn
      const text = `${turn.system}\n${JSON.stringify(messages)}`
      told.push({ who, task, state, number, text, tools: tools.map(({ name }) => name) })
      return brain.think(turn, signal)
    },
  }
}

/** Every row is a commit of its own. */
const STEPWISE = { restartsMax: 5, restartWindowMs: 60_000, rowsPerTurnMax: 1 }

function openPart(git: GitWorld, settings: TaskWorldSettings, told: Told[]): Promise<Team> {
  const { forge, isUp, suspensionMs = 900_000 } = settings
  const isolate = settings.isolation === 'bubblewrap' ? openBubblewrap : openUnconfined
  const probe = async () => isUp?.() ?? true
  const script = scripted(settings.replies)
  const named = (who: 'coder' | 'reviewer' | 'tester') => ({
    brain: listening(who, settings.brains?.[who] ?? script, told),
    service: 'model',
    priceOf: async () => 0,
    ...(who === 'coder' && settings.isAgent && { isAgent: true as const }),
  })
  return openTeam({
    stateFolder: git.state,
    openIsolation: (processes) => isolate(processes, { stateFolder: git.state }),
    openBrains: async () => ({
      brains: { coder: named('coder'), reviewer: named('reviewer'), tester: named('tester') },
      services: { model: { probe }, forge: { probe } },
    }),
    hosts: [],
    testTimeoutMs: 30_000,
    secrets: [],
    thinkAttemptsMax: 2,
    suspension: { probeIntervalMs: 20, timeoutMs: suspensionMs },
    ...(settings.abortsIn && { restarts: STEPWISE }),
    ...(forge && { openForge: async (parts) => forge(await openLocalForge(parts)) }),
  })
}

/** Makes a repository and has a task done on it. */
export async function openTaskWorld(given: TaskWorldSettings): Promise<TaskWorld> {
  const git = await openGitWorld(given.files ?? FILES)
  await git.processes.close()
  const told: Told[] = []
  let settings = given
  let team = await openPart(git, settings, told)
  const watching = watch(() => team)
  if (given.abortsIn !== undefined) onceIn(given.abortsIn, team, () => void watching.abort())
  await startTask(team, startOf(git, settings))
  return {
    git,
    told,
    ...watching,
    branch: (path) => show(git, path),
    async reopen(changed = {}) {
      settings = { ...settings, ...changed }
      await team.close()
      team = await openPart(git, settings, told)
    },
    async close() {
      const faults = await inspect(team)
      await team.close()
      await git.close()
      if (faults.length > 0) throw new Error(faults.join('\n'))
    },
  }
}

/** Does something once a state is stored, and before anything else is handled. */
function onceIn(state: string, { journal }: Team, act: () => void): void {
  const commit = journal.commit.bind(journal)
  journal.commit = async (batch) => {
    await commit(batch)
    if (!batch.agents.some((agent) => agent.state === state)) return
    journal.commit = commit
    act()
  }
}

function watch(team: () => Team) {
  const rows = () => team().journal.readRows(RUN as RunId, 0, 1_000_000)
  const agent = async () => {
    const agents = await team().journal.readAgents(RUN as RunId)
    return agents.find(({ id }) => id === coordinatorOf(RUN)) as AgentRecord
  }
  const until = async (holds: (agent: AgentRecord) => boolean) => {
    let seq = -1
    let deadlineMs = 0
    for (;;) {
      const now = await agent()
      if (now.halted) throw new Error(`halted: ${JSON.stringify((await rows()).at(-1))}`)
      if (holds(now)) return now
      if (now.seq !== seq) deadlineMs = Date.now() + STANDSTILL_MS_MAX
      else if (Date.now() > deadlineMs) {
        throw new Error(`nothing happens in ${now.state}: ${JSON.stringify(now.data)}`)
      }
      seq = now.seq
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  const deliver = async (type: string, payload: Json = null) => {
    const id = crypto.randomUUID() as EventId
    await team().runtime.deliver({ id, agent: coordinatorOf(RUN), type, payload })
  }
  return {
    team,
    agent,
    rows,
    until,
    work: async () => taskWorkOf(await agent()),
    rounds: async () => {
      const now = await agent()
      const { rounds } = taskWorkOf(now)
      return Array.from({ length: rounds }, (_, i) => roundOf(now, i + 1) as Round)
    },
    moves: async () =>
      (await rows())
        .filter(({ agentId, kind }) => agentId === coordinatorOf(RUN) && kind === 'moved')
        .map(({ from, move, to }) => `${from} ${move} ${to}`),
    untilIn: (state: string) => until((now) => now.state === state),
    outcome: async () => {
      const isOver = (now: AgentRecord) => {
        const { awaits, outcome } = taskWorkOf(now)
        return now.state === 'finalize' && awaits === null && outcome !== null
      }
      return taskWorkOf(await until(isOver)).outcome
    },
    confirm: () => deliver(PROPOSAL_CONFIRMED),
    abort: () => deliver(ABORT_WANTED),
    followUp: (text: string, mode: TaskMode = 'implementation') =>
      deliver(FOLLOW_UP_BROUGHT, { text, mode, isConfirmed: false } satisfies Brought),
  }
}

/** What is wrong with a journal. The rows that it took are remembered. */
async function inspect({ journal }: Team): Promise<string[]> {
  const { differences } = await replay(journal, RUN as RunId)
  const rows = await journal.readRows(RUN as RunId, 0, 1_000_000)
  recordCoverage(await journal.readAgents(RUN as RunId), rows)
  const broken = rows.filter(({ kind }) => kind === 'set_aside' || kind === 'halted')
  return [...differences, ...broken.map((row) => `${row.agentId}: ${row.body.error}`)]
}

function show(git: GitWorld, path: string): string | undefined {
  try {
    return plainGit(git.repositories.work, 'show', `slipway/${RUN}/task:${path}`)
  } catch {
    return undefined
  }
}
