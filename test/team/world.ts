import type {
  AgentId,
  EffectId,
  EventId,
  Json,
  JsonObject,
  RunId,
} from '../../src/agents/values.ts'
import type { Team } from '../../src/cli/engine/team.ts'
import type { AgentRecord, StoredRow } from '../../src/runtime/records.ts'
import { replay } from '../../src/runtime/replay.ts'
import { type GitWorld, openGitWorld, plainGit } from '../git/world.ts'
import { recordCoverage } from './coverage.ts'
import { FILES, openPart, RUN, settingsOf, startOf, type TeamWorldSettings } from './parts.ts'

type Agents = ReadonlyMap<string, AgentRecord>

/** A team on a real repository, with everything real but the model. */
export interface TeamWorld {
  team(): Team
  agents(): Promise<Agents>
  rows(): Promise<readonly StoredRow[]>
  /** The moves of one agent so far, as `FROM event TO`. */
  moves(place: string): Promise<string[]>
  until(holds: (agents: Agents) => boolean): Promise<Agents>
  /** Waits until no story is left. */
  untilOver(): Promise<Agents>
  untilIn(place: string, state: string): Promise<Agents>
  /** A file of the target branch; undefined where there is none. */
  target(path: string): string | undefined
  log(): string[]
  /** The question that somebody asks, as soon as there is one. */
  question(): Promise<{ readonly id: EffectId; readonly input: JsonObject }>
  answer(value: { choice?: string; text?: string }): Promise<void>
  deliver(place: string, type: string, payload?: Json): Promise<void>
  /** Brings a further spec to the run by a product manager of its own, who waits for it if null. */
  bring(document: string | null, pm: string): Promise<void>
  /**
   * Ends the process's part of it, and begins again on the same folder, perhaps otherwise; as
   * before where that is refused.
   */
  reopen(changed?: Partial<TeamWorldSettings>): Promise<void>
  close(): Promise<void>
}

const STANDSTILL_MS_MAX = 60_000

/** What can be seen of a team, whoever it is by now. */
function watch(team: () => Team, isSupervised: boolean) {
  const agents = async () => byPlace(await team().journal.readAgents(RUN as RunId))
  const rows = () => team().journal.readRows(RUN as RunId, 0, 1_000_000)
  const until: TeamWorld['until'] = (holds) =>
    waitFor(async () => {
      const found = await agents()
      const halted = [...found.values()].find((agent) => agent.halted)
      if (halted && !isSupervised)
        throw new Error(`${halted.id} is halted: ${lastRow(await rows(), halted)}`)
      return holds(found) ? found : undefined
    }, agents)
  return {
    team,
    agents,
    rows,
    moves: async (place: string) =>
      (await rows())
        .filter(({ agentId, kind }) => agentId === `${RUN}/${place}` && kind === 'moved')
        .map(({ from, move, to }) => `${from} ${move} ${to}`),
    until,
    untilOver: () => until((found) => found.get('dispatcher')?.state === 'CLOSED'),
    untilIn: (place: string, state: string) => until((found) => found.get(place)?.state === state),
    question: () =>
      waitFor(async () => {
        const open = await team().journal.readEffects(RUN as RunId)
        const asked = open.find(({ kind }) => kind === 'ask_human')
        return asked && { id: asked.id, input: asked.input as JsonObject }
      }, agents),
  }
}

/** What people and the orchestrator can do to a team. */
function act(team: () => Team, settings: () => TeamWorldSettings) {
  const deliver = async (place: string, type: string, payload: Json = null) => {
    const id = crypto.randomUUID() as EventId
    await team().runtime.deliver({ id, agent: `${RUN}/${place}` as AgentId, type, payload })
  }
  return {
    deliver,
    async bring(document: string | null, pm: string) {
      const id = `${RUN}/${pm}` as AgentId
      await team().runtime.createAgent({ id, run: RUN as RunId, role: 'pm' })
      if (document === null) return
      const brought = { document, preview: 'auto', isWish: false, settings: settingsOf(settings()) }
      await deliver(pm, 'spec_brought', brought as unknown as Json)
    },
  }
}

/** Makes a repository, opens a team on it and starts a run. */
export async function openTeamWorld(given: TeamWorldSettings): Promise<TeamWorld> {
  const git = await openGitWorld(given.files ?? FILES)
  await git.processes.close()
  let settings = given
  let team = await openPart(git, settings)
  await team.start(startOf(git, settings))
  const watching = watch(() => team, given.isSupervised ?? false)
  return {
    ...watching,
    ...act(
      () => team,
      () => settings,
    ),
    target: (path) => show(git, path),
    log: () => plainGit(git.repositories.mirror, 'log', '--format=%s', 'main').split('\n'),
    async answer(value) {
      const { id } = await watching.question()
      const taken = await team.runtime.answer(id, value)
      if (taken !== 'accepted') throw new Error(`the answer was ${taken}`)
    },
    async reopen(changed = {}) {
      await team.close()
      const next = { ...settings, ...changed }
      team = await openPart(git, next).catch(async (error) => {
        team = await openPart(git, settings)
        throw error
      })
      settings = next
    },
    async close() {
      const faults = await inspect(team, given.isSupervised ?? false)
      await team.close()
      await git.close()
      if (faults.length > 0) throw new Error(faults.join('\n'))
    },
  }
}

/** What is wrong with a journal. The rows that it took are remembered. */
async function inspect({ journal }: Team, isSupervised: boolean): Promise<string[]> {
  const { differences } = await replay(journal, RUN as RunId)
  const rows = await journal.readRows(RUN as RunId, 0, 1_000_000)
  recordCoverage(await journal.readAgents(RUN as RunId), rows)
  const faults = isSupervised ? ['set_aside'] : ['set_aside', 'halted']
  const broken = rows.filter(({ kind }) => faults.includes(kind))
  return [...differences, ...broken.map((row) => `${row.agentId}: ${row.body.error}`)]
}

/** Looks again and again. It is in vain when nothing at all has happened for a minute. */
async function waitFor<T>(
  look: () => Promise<T | undefined>,
  agents: () => Promise<Agents>,
): Promise<T> {
  let rows = -1
  let deadlineMs = 0
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    const lookedMs = Date.now()
    const now = await agents()
    const seen = [...now.values()].reduce((sum, { seq }) => sum + seq, 0)
    if (seen !== rows) deadlineMs = Date.now() + STANDSTILL_MS_MAX
    else if (Date.now() > deadlineMs) throw new Error(`nothing happens\n${describe(now)}`)
    rows = seen
    // Looking at hundreds of agents is work too, and must not be most of what is done.
    await new Promise((resolve) => setTimeout(resolve, Math.max(10, 20 * (Date.now() - lookedMs))))
  }
}

function show(git: GitWorld, path: string): string | undefined {
  try {
    return plainGit(git.repositories.mirror, 'show', `main:${path}`)
  } catch {
    return undefined
  }
}

function byPlace(agents: readonly AgentRecord[]): Agents {
  return new Map(agents.map((agent) => [agent.id.slice(RUN.length + 1), agent]))
}

function lastRow(rows: readonly StoredRow[], { id }: AgentRecord): string {
  return JSON.stringify(rows.findLast((row) => row.agentId === id)?.body ?? {}).slice(0, 2_000)
}

function describe(agents: Agents): string {
  return [...agents]
    .map(([place, { state, data }]) => `${place} ${state} ${JSON.stringify(data).slice(0, 1_000)}`)
    .join('\n')
}
