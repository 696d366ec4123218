import type { Exhausted } from '../../ledger/limits.ts'
import type { Criterion, Story } from '../../stories/story.ts'
import type { Mind } from '../thinking/assignment.ts'
import type { AgentId, BlobRef, Json, JsonObject } from '../values.ts'

/** What the agents of a team say to each other. Every message is one of these, as plain data. */

/** What a run was started with. The dispatcher holds it and sends it along with work. */
export type TeamSettings = {
  readonly run: string
  /** The branch that stories are merged into. */
  readonly target: string
  readonly minds: { readonly pm: Mind; readonly architect: Mind; readonly coder: Mind }
  readonly limits: TeamLimits
  /** Who judges plans: nobody, the architect's model, or the human. */
  readonly planReview: 'auto' | 'model' | 'human'
  /** Beyond the workspace, the input of `run_tests`. */
  readonly tests: { readonly [key: string]: Json }
}

/** Every loop of the team's work is bounded by one of these. */
export type TeamLimits = {
  readonly planningTurns: number
  readonly codingTurns: number
  readonly fixingTurns: number
  readonly reviewTurns: number
  /** How often a plan, the code or the spec may be sent back; a merge that came back is code. */
  readonly planRounds: number
  readonly codeRounds: number
  readonly specRounds: number
  /** How often a budget review may grant more turns. */
  readonly budgetGrants: number
  /** How often tests may fail in the same way before that counts as a spent budget. */
  readonly sameFailures: number
  /** How often a story is taken up. */
  readonly attempts: number
  /** How long a human is waited for. */
  readonly escalationMs: number
}

export const DEFAULT_LIMITS: TeamLimits = {
  planningTurns: 30,
  codingTurns: 80,
  fixingTurns: 60,
  reviewTurns: 30,
  planRounds: 3,
  codeRounds: 4,
  specRounds: 4,
  budgetGrants: 2,
  sameFailures: 3,
  attempts: 3,
  escalationMs: 24 * 3_600_000,
}

/** What an earlier attempt at a story left behind. */
export type Lesson = {
  readonly reason: string
  /** The same for the same failure. */
  readonly fingerprint: string
  readonly failures: string
  readonly diff: BlobRef | null
}

/** Dispatcher → coder: here is work. */
export const STORY = 'story'
export type StoryMessage = {
  readonly story: Story
  readonly attempt: number
  readonly lessons: readonly Lesson[]
  /** The spec that it is of, as far as it fits a prompt; null or absent where nobody kept it. */
  readonly spec?: BlobRef | null
  readonly settings: TeamSettings
}

/** Coder, PM → dispatcher: I have a request; it is kept with me until somebody is free for it. */
export const REQUEST_WAITING = 'request_waiting'
export type RequestWaiting = { readonly request: string; readonly from: AgentId }

/** Dispatcher → coder, PM: this architect is free for your request. */
export const ARCHITECT_FREE = 'architect_free'
export type ArchitectFree = { readonly request: string; readonly architect: AgentId }

/** Coder, PM → architect: decide something. */
export const REQUEST = 'request'
export type RequestMessage = {
  /** Unique for its sender. */
  readonly id: string
  readonly from: AgentId
  readonly story: Story | null
  readonly settings: TeamSettings
  readonly ask: Ask
  /** What keeps its sender from going on, where no architect can help, and only a human can. */
  readonly cause?: Exhausted
}

export type Ask =
  | {
      readonly kind: 'question'
      readonly question: string
      readonly tried: string
      readonly plan: string
      readonly spec: BlobRef | null
    }
  | {
      readonly kind: 'plan'
      readonly plan: string
      readonly round: number
      readonly note: string
      /** What was required in earlier rounds. Requests of a former version do not have it. */
      readonly earlier?: string
    }
  | {
      readonly kind: 'code'
      readonly diff: BlobRef
      readonly head: string
      readonly tests: string
      readonly round: number
      readonly note: string
      readonly earlier: string
    }
  | { readonly kind: 'completion'; readonly evidence: string; readonly earlier?: string }
  | {
      readonly kind: 'budget_review'
      readonly state: string
      readonly used: string
      readonly grants: number
      /** How far it came, in a line. Requests of a former version do not have it. */
      readonly history?: string
      /** What the coder's revision can be told. */
      readonly decisions: string
      readonly plan: string
      readonly failures: string
      readonly diff: BlobRef | null
    }
  | {
      readonly kind: 'merge'
      readonly head: string
      readonly branch: string
      /** The pull request. */
      readonly number: number
    }
  | {
      readonly kind: 'spec'
      readonly spec: Spec
      readonly round: number
      readonly problems: string
    }

/** What the product manager hands over. */
export type Spec = {
  readonly title: string
  readonly body: string
  readonly criteria: readonly Criterion[]
}

/** Architect → whoever asked. */
export const RESPONSE = 'response'
export type ResponseMessage = {
  readonly request: string
  readonly status: 'APPROVED' | 'NEEDS_CHANGES' | 'REJECTED'
  /** What is to be done about it, in words. */
  readonly feedback: string
  /** Nobody decided: whoever was to decide could not. The status is REJECTED then. */
  readonly isFailure?: true
  /** Of a budget review. */
  readonly budget?: 'continue' | 'pivot' | 'replan' | 'escalate' | 'abandon'
  /** Of a merge: the commit on the target, or what stands in its way. */
  readonly merged?: string
  readonly conflict?: MergeConflict
}

type MergeConflict = {
  readonly text: string
  /** A commit whose files have both sides marked; null where the gate was red. */
  readonly content: string | null
  /** The commit of the target that the next workspace stands on. */
  readonly base: string
}

/** Coder → dispatcher: I am idle. Said by every generation as it is born. */
export const CODER_IDLE = 'coder_idle'
/** Architect → dispatcher: I can take a request. */
export const ARCHITECT_IDLE = 'architect_idle'
/** Architect → dispatcher: I wait for a human, and take nothing until I say that I am idle. */
export const ARCHITECT_ESCALATED = 'architect_escalated'
export type IdleMessage = { readonly agent: AgentId }

/** Whoever loads stories → story: this is what you are, and who waits for you. */
export const STORY_LOADED = 'story_loaded'
export type StoryLoaded = {
  readonly story: Story
  readonly dependents: readonly string[]
  readonly spec?: BlobRef | null
  readonly settings: TeamSettings
}

/** Whoever loads stories → dispatcher: so many more are to be done. */
export const STORIES_LOADED = 'stories_loaded'
export type StoriesLoaded = { readonly count: number; readonly settings: TeamSettings }

/** Story → dispatcher: a coder can take me. */
export const STORY_READY = 'story_ready'
export type StoryReady = {
  readonly story: string
  readonly kind: Story['kind']
  readonly files: readonly string[]
  /** Present when it was called out of the line: who stood behind it. */
  readonly next?: string | null
}

/**
 * Dispatcher → story. Ready stories that are many wait in a line in which each knows only the next,
 * so that the dispatcher's data does not grow with their number.
 */
export const NEXT_IN_LINE = 'next_in_line'
export const COME_FORWARD = 'come_forward'
export type NextInLine = { readonly story: string }

/** Dispatcher → story: this coder takes you. */
export const STORY_TAKEN = 'story_taken'
export type StoryTaken = { readonly coder: AgentId }

/** Story → its dependents: it is there, it failed, it may yet succeed, or it will never be there. */
export const DEPENDENCY_MET = 'dependency_met'
export const DEPENDENCY_FAILED = 'dependency_failed'
export const DEPENDENCY_RETRIED = 'dependency_retried'
export const DEPENDENCY_CUT = 'dependency_cut'
export type Dependency = { readonly story: string; readonly reason: string }

/** Coder → its story: it came to its end with me, this way. */
export const STORY_ENDED = 'story_ended'
export type StoryEnded = {
  readonly coder: AgentId
  readonly end:
    | { readonly kind: 'merged'; readonly commit: string }
    /** Nothing had to be done, as a test run shows. */
    | { readonly kind: 'complete'; readonly tests: JsonObject }
    | { readonly kind: 'failed'; readonly lesson: Lesson; readonly isCharged: boolean }
}

/** Story → coder that failed: what it left is stored and cleared, and it can be replaced. */
export const STORY_CLEARED = 'story_cleared'

/** Story → dispatcher: I am over, this way; `FAILED` may yet change. */
export const STORY_OVER = 'story_over'
export type StoryOver = {
  readonly story: string
  readonly state: 'MERGED' | 'WAIVED' | 'CUT' | 'FAILED' | 'REQUEUED'
  /** Whether it had failed before. */
  readonly wasFailed: boolean
}

/** Architect → dispatcher: what is left? Dispatcher → architect: so many. */
export const COUNT_STORIES = 'count_stories'
export const STORIES_COUNTED = 'stories_counted'
export type StoriesCounted = { readonly left: number; readonly failed: number }

/** Architect → merge queue, and back. */
export const MERGE_WANTED = 'merge_wanted'
export const MERGE_FINISHED = 'merge_finished'
export type MergeWanted = {
  readonly from: AgentId
  readonly request: string
  readonly merge: { readonly [key: string]: Json }
}
export type MergeFinished = { readonly request: string; readonly response: ResponseMessage }

/**
 * Orchestrator → agents, from outside: what brings you work was lost and is there anew. An idle
 * agent is taken through its failure state, where its machine has a row for that, and is free again.
 */
export const CHANNEL_CLOSED = 'channel_closed'

/** A choice of the human: it could not be decided before, because a budget was spent; now it can. */
export const AGAIN = 'again'

/** The agents of a run, by their place in the team. */
export function agentIdOf(run: string, place: string): AgentId {
  return `${run}/${place}` as AgentId
}

export function runOf(agent: AgentId): string {
  return agent.slice(0, agent.indexOf('/'))
}

export const dispatcherOf = (run: string) => agentIdOf(run, 'dispatcher')
export const ledgerOf = (run: string) => agentIdOf(run, 'ledger')
export const mergeQueueOf = (run: string) => agentIdOf(run, 'merge-queue')
export const storyAgentOf = (run: string, story: string) => agentIdOf(run, `story/${story}`)
