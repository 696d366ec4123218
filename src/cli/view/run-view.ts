import type { StoryData } from '../../agents/team/story-agent.ts'
import type { JsonObject } from '../../agents/values.ts'
import { type Amounts, addAmounts, NO_AMOUNTS } from '../../ledger/amounts.ts'
import type { Account } from '../../ledger/ledger.ts'
import type { AgentRecord, EffectRecord, RunRecord } from '../../runtime/records.ts'

/** A run as people see it, made of what is stored and nothing else. */
export interface RunView {
  readonly run: string
  readonly status: 'running' | 'paused' | 'stopped' | 'waiting' | 'done' | 'failed'
  readonly stories: readonly StoryView[]
  readonly agents: readonly AgentView[]
  readonly questions: readonly QuestionView[]
  readonly spent: Amounts
  readonly startedMs: number
}

export interface StoryView {
  readonly id: string
  readonly title: string
  readonly state: string
  /** What the coder that has it is doing. */
  readonly coder: string | null
  readonly activity: string | null
  readonly attempts: number
  readonly commit: string | null
  readonly dependsOn: readonly string[]
  /** Dependencies that failed, with the reason. */
  readonly failedDependencies: readonly string[]
  readonly criteria: readonly string[]
  readonly lastFailure: string | null
}

interface AgentView {
  readonly id: string
  readonly role: string
  readonly state: string
  readonly story: string | null
  readonly generation: number
  readonly isHalted: boolean
  readonly turn: number | null
}

/** Something that only a human can answer. */
export interface QuestionView {
  readonly id: string
  readonly from: string
  readonly about: string
  readonly question: string
  readonly choices: readonly string[]
  readonly askedMs: number
}

const STORY_STATES_LEFT = ['BLOCKED', 'READY', 'ASSIGNED', 'FAILED', 'ERROR', 'SUSPEND']
const WORKING = ['architect', 'coder', 'pm']

export function viewRun(
  run: RunRecord,
  agents: readonly AgentRecord[],
  effects: readonly EffectRecord[],
): RunView {
  const workers = agents.filter(({ id }) => WORKING.some((role) => placeOf(id).startsWith(role)))
  const stories = agents.filter(({ id }) => placeOf(id).startsWith('story/'))
  const viewed = workers.map(viewAgent)
  const questions = effects.filter(({ kind }) => kind === 'ask_human').map(viewQuestion)
  const ledger = agents.find(({ id }) => placeOf(id) === 'ledger')
  return {
    run: run.id,
    status: statusOf(run, agents, questions),
    stories: stories.flatMap((story) => viewStory(story, viewed)),
    agents: viewed,
    questions,
    spent: spentIn(ledger),
    startedMs: run.createdMs,
  }
}

function statusOf(
  run: RunRecord,
  agents: readonly AgentRecord[],
  questions: readonly QuestionView[],
): RunView['status'] {
  const stateOf = (place: string) => agents.find(({ id }) => placeOf(id) === place)?.state
  const pm = stateOf('pm')
  const stories = agents.filter(({ id }) => placeOf(id).startsWith('story/'))
  if (stateOf('dispatcher') === 'CLOSED' && stories.length > 0) return 'done'
  if (pm === 'DONE' && stories.length === 0) return 'failed'
  if (run.status !== 'running') return run.status
  if (agents.some(({ halted }) => halted)) return 'failed'
  const isWorking = agents.some(
    ({ id, state }) => placeOf(id).startsWith('coder') && state !== 'WAITING' && state !== 'DONE',
  )
  return questions.length > 0 && !isWorking ? 'waiting' : 'running'
}

function viewAgent({ id, role, state, data, generation, halted }: AgentRecord): AgentView {
  const work = data.work as { story?: { id?: string } } | undefined
  const request = data.request as { story?: { id?: string } | null } | undefined
  const thinking = data.thinking as { turn?: number; awaits?: string | null } | undefined
  return {
    id: placeOf(id),
    role,
    state: state ?? 'null',
    story: work?.story?.id ?? request?.story?.id ?? null,
    generation,
    isHalted: halted,
    turn: thinking?.awaits ? (thinking.turn ?? null) : null,
  }
}

function viewStory({ state, data }: AgentRecord, agents: readonly AgentView[]): StoryView[] {
  const { story, coder, attempts, commit, failed, lessons } = data as unknown as StoryData
  if (story === undefined) return []
  const name = coder ? placeOf(coder) : null
  return [
    {
      id: story.id,
      title: story.title,
      state: state ?? 'null',
      coder: name,
      activity: agents.find(({ id }) => id === name)?.state ?? null,
      attempts,
      commit: commit ?? null,
      dependsOn: story.dependsOn,
      failedDependencies: Object.entries(failed ?? {}).map(([id, reason]) => `${id}: ${reason}`),
      criteria: story.criteria.map(({ id }) => id),
      lastFailure: lessons.at(-1)?.reason ?? null,
    },
  ]
}

function viewQuestion({ id, agentId, input, askedMs }: EffectRecord): QuestionView {
  const { about, question, choices } = (input ?? {}) as JsonObject
  return {
    id,
    from: placeOf(agentId),
    about: String(about ?? ''),
    question: String(question ?? ''),
    choices: ((choices ?? []) as readonly string[]).map(String),
    askedMs,
  }
}

function spentIn(ledger: AgentRecord | undefined): Amounts {
  const account = ledger?.data.run as unknown as Account | undefined
  return account === undefined ? NO_AMOUNTS : addAmounts(account.spent, NO_AMOUNTS)
}

/** How many stories are not over yet. */
export function storiesLeft({ stories }: RunView): number {
  return stories.filter(({ state }) => STORY_STATES_LEFT.includes(state)).length
}

/** The place of an agent in its team. */
export function placeOf(id: string): string {
  return id.slice(id.indexOf('/') + 1)
}
