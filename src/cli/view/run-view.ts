import type { TaskMode } from '../../agents/coordinator/protocol.ts'
import { roundOf, taskWorkOf } from '../../agents/coordinator/task-work.ts'
import { OUTAGE, type Outage } from '../../agents/role.ts'
import type { PmFailure } from '../../agents/team/pm-case.ts'
import type { TeamSettings } from '../../agents/team/protocol.ts'
import type { StoryData } from '../../agents/team/story-agent.ts'
import type { JsonObject } from '../../agents/values.ts'
import { type Amounts, addAmounts, NO_AMOUNTS } from '../../ledger/amounts.ts'
import type { Account, LedgerLimits } from '../../ledger/ledger.ts'
import type { Exhausted } from '../../ledger/limits.ts'
import type { AgentRecord, EffectRecord, RunRecord } from '../../runtime/records.ts'
import { deliveryError, findTask, taskStatus } from './task-status.ts'

/** A run as people see it, made of what is stored and nothing else. */
export interface RunView {
  readonly run: string
  /** The branch that is merged into; null where a run has none. */
  readonly target: string | null
  /** How its commands were confined when it began; null where that was not written down. */
  readonly isolation: string | null
  readonly status: 'running' | 'paused' | 'stopped' | 'waiting' | 'done' | 'failed'
  /** What is done without a team; null where the run is a team's. */
  readonly task: TaskHead | null
  readonly stories: readonly StoryView[]
  readonly agents: readonly AgentView[]
  readonly questions: readonly QuestionView[]
  readonly spent: Amounts
  readonly budget: BudgetView
  /** The roles whose model has no price that anybody knows. */
  readonly unpriced: readonly string[]
  /** Whether every story is over and yet a criterion is not shown, which counts as failed. */
  readonly isUnshown: boolean
  /** Why there is no spec, where one was given up. */
  readonly failure: PmFailure | null
  readonly startedMs: number
  /** When the last thing happened in it, once nothing more will by itself. */
  readonly endedMs: number | null
}

/** How a task stands, in short; its report has the rest. */
interface TaskHead {
  readonly mode: TaskMode
  readonly round: number
  readonly state: string
  readonly outcome: string | null
  /** Why what is approved could not be handed in. */
  readonly deliveryError: string | null
}

/** What may be spent, and whether a call was refused because of the run's limits. */
interface BudgetView {
  readonly limits: LedgerLimits | null
  readonly isSpent: boolean
  /** When the first call was made, from which the hours count. */
  readonly startedMs: number | null
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
  /** Who has to decide before it goes on: `human`, the name of an architect, or the next `architect`. */
  readonly waitsFor: string | null
  /** Why it is suspended; null where it is not. */
  readonly outage: string | null
  /** Until when whatever it waits for asked to be left alone; null where no time was named. */
  readonly outageUntilMs: number | null
}

/** Something that only a human can answer. */
export interface QuestionView {
  readonly id: string
  readonly from: string
  readonly about: string
  /** What it is about: a spec, a story, a plan and so on. */
  readonly kind: string
  readonly question: string
  readonly choices: readonly string[]
  /** What comes of a choice, by choice, where its name does not say it. */
  readonly does: Readonly<Record<string, string>>
  /** What comes of words without a choice; empty where nothing is said of that. */
  readonly words: string
  /** The choice that such words count as; empty where they are an answer by themselves. */
  readonly wordsAs: string
  /** The limit that was in the way, where more of a budget would do instead of an answer. */
  readonly cause: Exhausted | null
  readonly askedMs: number
}

const STORY_STATES_LEFT = ['BLOCKED', 'READY', 'ASSIGNED', 'FAILED', 'ERROR', 'SUSPEND']
const RESTING: readonly RunView['status'][] = ['done', 'failed', 'stopped', 'paused']
const WORKING = ['architect', 'coder', 'coordinator', 'pm']

export function viewRun(
  run: RunRecord,
  agents: readonly AgentRecord[],
  effects: readonly EffectRecord[],
  lastMs: number | null,
): RunView {
  const status = statusOf(run, agents, effects)
  const task = viewTaskHead(findTask(agents))
  // A proposal that waits to be confirmed is at its end until then.
  const isResting = RESTING.includes(status) || (status === 'waiting' && task !== null)
  const workers = agents.filter(({ id }) => WORKING.some((role) => placeOf(id).startsWith(role)))
  const stories = agents.filter(({ id }) => placeOf(id).startsWith('story/'))
  const asked = effects.filter(({ kind }) => kind === 'ask_human')
  const viewed = workers.map((agent) => ({
    ...viewAgent(agent),
    waitsFor: waitedFor(agent, workers, asked),
  }))
  const questions = asked.map(viewQuestion)
  const ledger = agents.find(({ id }) => placeOf(id) === 'ledger')
  return {
    run: run.id,
    target: settingsIn(run)?.target ?? null,
    isolation: typeof run.config.isolation === 'string' ? run.config.isolation : null,
    status,
    task,
    stories: stories.flatMap((story) => viewStory(story, viewed)),
    agents: viewed,
    questions,
    spent: spentIn(ledger),
    budget: viewBudget(ledger),
    unpriced: unpricedIn(run),
    isUnshown: false,
    failure: failureIn(agents),
    startedMs: run.createdMs,
    endedMs: isResting ? (roundEndOf(findTask(agents)) ?? lastMs) : null,
  }
}

/**
 * A run waits when something is asked and nothing else is under way. It has failed when there is no
 * story to be done, or when somebody is halted without whom nothing goes on.
 */
function statusOf(
  run: RunRecord,
  agents: readonly AgentRecord[],
  effects: readonly EffectRecord[],
): RunView['status'] {
  const task = findTask(agents)
  if (task !== undefined) return taskStatus(run, task)
  const pms = agents.filter(({ role }) => role === 'pm')
  const hasStories = agents.some(({ id }) => placeOf(id).startsWith('story/'))
  const isClosed = agents.some(
    ({ id, state }) => placeOf(id) === 'dispatcher' && state === 'CLOSED',
  )
  const hasSpecs = pms.length > 0 && pms.every(({ state }) => state === 'DONE')
  if (hasSpecs && (isClosed || !hasStories)) {
    return hasStories && failureIn(agents) === null ? 'done' : 'failed'
  }
  if (run.status !== 'running') return run.status
  if (isHeldUp(agents)) return 'failed'
  const asks = effects.filter(({ kind }) => kind === 'ask_human')
  return asks.length > 0 && asks.length === effects.length ? 'waiting' : 'running'
}

/** Whether all agents of some kind are halted; each story is a kind of its own. */
function isHeldUp(agents: readonly AgentRecord[]): boolean {
  const kindOf = ({ id, role }: AgentRecord) => (role === 'story' ? id : role)
  const well = new Set(agents.filter(({ halted }) => !halted).map(kindOf))
  return agents.some((agent) => agent.halted && !well.has(kindOf(agent)))
}

/** Why the newest spec came to nothing. */
function failureIn(agents: readonly AgentRecord[]): PmFailure | null {
  const pms = agents.filter(({ role }) => role === 'pm').toSorted((a, b) => a.key - b.key)
  const pm = pms.at(-1)
  return (pm?.data.failure as unknown as PmFailure | undefined) ?? null
}

function viewTaskHead(task: AgentRecord | undefined): TaskHead | null {
  if (task === undefined) return null
  const { mode, rounds, outcome, delivery } = taskWorkOf(task)
  const error = deliveryError(delivery) ?? null
  return { mode, round: rounds, state: task.state ?? 'null', outcome, deliveryError: error }
}

/** When the last round of a task ended. Its books may be closed long after it, by another process. */
function roundEndOf(task: AgentRecord | undefined): number | null {
  if (task === undefined) return null
  return roundOf(task, taskWorkOf(task).rounds)?.endedMs ?? null
}

function settingsIn({ config }: RunRecord): TeamSettings | undefined {
  return config.settings as unknown as TeamSettings | undefined
}

function unpricedIn(run: RunRecord): readonly string[] {
  return Object.entries(settingsIn(run)?.minds ?? {})
    .filter(([, { price }]) => price === null)
    .map(([role]) => role)
}

function viewBudget(ledger: AgentRecord | undefined): BudgetView {
  const { limits, startedMs } = ledger?.data ?? {}
  return {
    limits: (limits as unknown as LedgerLimits | undefined) ?? null,
    isSpent: ledger?.state === 'SPENT',
    startedMs: typeof startedMs === 'number' ? startedMs : null,
  }
}

/** Questions and requests that are open say who waits for whom. */
function waitedFor(
  { id, data }: AgentRecord,
  workers: readonly AgentRecord[],
  asked: readonly EffectRecord[],
): string | null {
  if (asked.some(({ agentId }) => agentId === id)) return 'human'
  const requestIn = (value: unknown) => (value as { id?: string } | undefined)?.id
  const pending = requestIn(data.pending)
  if (pending === undefined) return null
  const taker = workers.find((one) => requestIn(one.data.request) === pending)
  return taker === undefined ? 'architect' : placeOf(taker.id)
}

function viewAgent({
  id,
  role,
  state,
  data,
  generation,
  halted,
}: AgentRecord): Omit<AgentView, 'waitsFor'> {
  const work = data.work as { story?: { id?: string } } | undefined
  const request = data.request as { story?: { id?: string } | null } | undefined
  const thinking = data.thinking as { turn?: number; awaits?: string | null } | undefined
  const outage = state === 'SUSPEND' ? (data[OUTAGE] as unknown as Outage | undefined) : undefined
  return {
    id: placeOf(id),
    role,
    state: state ?? 'null',
    story: work?.story?.id ?? request?.story?.id ?? null,
    generation,
    isHalted: halted,
    turn: thinking?.awaits ? (thinking.turn ?? null) : null,
    outage: outage?.reason ?? null,
    outageUntilMs: outage?.untilMs ?? null,
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
  const { about, kind, question, choices, does, words, wordsAs, cause } = (input ??
    {}) as JsonObject
  return {
    id,
    from: placeOf(agentId),
    about: String(about ?? ''),
    kind: String(kind ?? ''),
    question: String(question ?? ''),
    choices: ((choices ?? []) as readonly string[]).map(String),
    does: (does ?? {}) as Readonly<Record<string, string>>,
    words: String(words ?? ''),
    wordsAs: String(wordsAs ?? ''),
    cause: (cause ?? null) as unknown as Exhausted | null,
    askedMs,
  }
}

function spentIn(ledger: AgentRecord | undefined): Amounts {
  const account = ledger?.data.run as unknown as Account | undefined
  return account === undefined ? NO_AMOUNTS : addAmounts(account.spent, NO_AMOUNTS)
}

/** Whether nothing becomes of a story any more. */
export function isStoryOver({ state }: StoryView): boolean {
  return !STORY_STATES_LEFT.includes(state)
}

/** How many stories are not over yet. */
export function storiesLeft({ stories }: RunView): number {
  return stories.filter((story) => !isStoryOver(story)).length
}

/** The place of an agent in its team. */
export function placeOf(id: string): string {
  return id.slice(id.indexOf('/') + 1)
}
