import type { AgentView } from '../role.ts'
import type { BlobRef, EffectId, JsonObject } from '../values.ts'
import type { Cause } from './coordinator-revision.ts'
import type { Outcome, TaskMode, TaskSettings } from './protocol.ts'

/** What a coordinator knows about its task, in its data. */
export interface TaskWork {
  readonly settings: TaskSettings
  readonly task: string
  readonly followUps: readonly string[]
  readonly mode: TaskMode
  readonly isConfirmed: boolean
  readonly place: { readonly folder: string; readonly branch: string; readonly base: string } | null
  /** The effect whose outcome is waited for, besides those of thinking. */
  readonly awaits: EffectId | null
  /** The number of the last round; each has a key of its own. */
  readonly rounds: number
  /** Rounds of implementation since the task or its last follow-up was brought. */
  readonly tries: number
  readonly proposal: string
  /** The commit that is reviewed and tested. */
  readonly head: string | null
  readonly diff: BlobRef | null
  /** How the repository is tested by its own account, and what that came to on this commit. */
  readonly known: readonly KnownCommand[]
  readonly ownTests: string
  /** The last commit that those tests failed on, and how: nothing later makes a pass of it. */
  readonly red: Red | null
  /** What the next round is to put right; empty where nothing is. */
  readonly mustFix: string
  /** The fingerprint of the last tests that failed, and how often they did in that way. */
  readonly failure: string | null
  readonly sameFailures: number
  /** Answers in a row that were not in the required form. */
  readonly malformed: number
  /** How often the coder ended its work without having changed anything. */
  readonly unchanged: number
  readonly outcome: Outcome | null
  /** More about the outcome, in words. */
  readonly why: string
  /** Whether a bound was reached; otherwise nothing could be done about it. */
  readonly isSpent: boolean
  /** The service that was lost, where the outcome does not name it. */
  readonly cause: Cause | null
  readonly delivery: Delivery | null
}

/** A run of the repository's own tests that failed. */
type Red = { readonly head: string; readonly fingerprint: string; readonly text: string }

export type KnownCommand = { readonly argv: readonly string[]; readonly cwd?: string }

/** Where the work was handed in. */
export type Delivery =
  | { readonly number: number; readonly url: string | null }
  | { readonly error: string; readonly cause: Cause | null }

/** One time round the table, as it is told to people. */
export type Round = {
  readonly number: number
  readonly kind: 'discussion' | 'implementation'
  readonly startedMs: number
  readonly endedMs: number | null
  /** What it came to: an event of the table, or an outcome. */
  readonly cameTo: string | null
  readonly proposal?: string
  readonly reviewerSays?: string
  readonly testerSays?: string
  readonly coderSays?: string
  readonly head?: string
  readonly diff?: BlobRef
  readonly ownTests?: string
  readonly review?: Review
  readonly plan?: TestPlan
  readonly tests?: string
  readonly mustFix?: string
}

/** What a reviewer answers; held against its schema by the tool that takes it. */
export type Review = {
  readonly decision: 'approve' | 'changes_requested'
  readonly must_fix: readonly string[]
  readonly nice_to_have: readonly string[]
  readonly tests: readonly string[]
  readonly security: readonly string[]
}

/** What a tester answers; likewise. */
export type TestPlan = {
  readonly test_plan: string
  readonly commands: readonly (readonly string[])[]
  readonly expected_results: readonly string[]
}

/** What a removed key stands for. Before the task is brought there are no `settings`. */
const NOTHING: Omit<TaskWork, 'settings'> = {
  task: '',
  followUps: [],
  mode: 'proposal',
  isConfirmed: false,
  place: null,
  awaits: null,
  rounds: 0,
  tries: 0,
  proposal: '',
  head: null,
  diff: null,
  known: [],
  ownTests: '',
  red: null,
  mustFix: '',
  failure: null,
  sameFailures: 0,
  malformed: 0,
  unchanged: 0,
  outcome: null,
  why: '',
  isSpent: false,
  cause: null,
  delivery: null,
}

export function taskWorkOf({ data }: Pick<AgentView, 'data'>): TaskWork {
  return { ...NOTHING, ...(data as unknown as TaskWork) }
}

/** Data as a decision stores it. */
export function asTaskData(changed: Partial<TaskWork>): JsonObject {
  return changed as unknown as JsonObject
}

const roundKey = (number: number) => `round:${number}`

/** A round that was begun; undefined before the first. */
export function roundOf({ data }: Pick<AgentView, 'data'>, number: number): Round | undefined {
  return data[roundKey(number)] as unknown as Round | undefined
}

/** A round as a decision stores it. */
export function asRound(round: Round): JsonObject {
  return { [roundKey(round.number)]: round } as unknown as JsonObject
}
