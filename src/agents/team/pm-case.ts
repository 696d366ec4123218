import type { Exhausted } from '../../ledger/limits.ts'
import { type AgentView, type Decision, effectIdOf } from '../role.ts'
import { beginThinking } from '../thinking/thinking.ts'
import type { BlobRef, EffectId, Json, JsonObject } from '../values.ts'
import { bounded } from './coder-work.ts'
import type { MoveTo } from './decisions.ts'
import type { RequestMessage, Spec, TeamSettings } from './protocol.ts'

/** From outside: a document to build, or a wish to be interviewed about. */
export const SPEC_BROUGHT = 'spec_brought'
export type SpecBrought = {
  readonly document: string
  readonly settings: TeamSettings
  /** Whether the human wants to see the spec before the architect does. */
  readonly preview: 'auto' | 'human'
  readonly isWish: boolean
}

/** What a product manager has in its data. */
export interface PmWork {
  readonly brought: SpecBrought
  readonly spec: Spec | null
  readonly pending: RequestMessage | null
  /** Questions and answers so far. */
  readonly interview: string
  readonly remarks: string
  readonly rounds: number
  /** The question that the human has not answered, and how many there were. */
  readonly asked: EffectId | null
  readonly question: string
  /** What the model has thought of as answers to it. */
  readonly offered: readonly string[]
  readonly questions: number
  /** Why it gave up. */
  readonly failure: PmFailure | null
}

/** Why there is no spec; `isOutage` where the services that it needed did not come back. */
export type PmFailure = { readonly reason: string; readonly isOutage: boolean }

/** What a removed key stands for. Before a spec was brought there is no `brought`. */
export const NOTHING: Omit<PmWork, 'brought'> = {
  spec: null,
  pending: null,
  interview: '',
  remarks: '',
  rounds: 0,
  asked: null,
  question: '',
  offered: [],
  questions: 0,
  failure: null,
}

/** A product manager at the moment of a decision. */
export interface Case {
  readonly agent: AgentView
  readonly work: PmWork
  readonly atMs: number
}

/** The timer of a question that the human has. */
export const ANSWER = 'answer'

/** What a human can say to a question of a product manager. */
interface Offer {
  readonly choices: readonly string[]
  /** Whether the model has thought of them, so that none means anything but itself. */
  readonly isOfModel?: true
  /** What comes of words without a choice, and the choice that they count as. */
  readonly words?: string
  readonly wordsAs?: string
  readonly cause?: Exhausted
}

/** A human is asked, and waited for as long as the limits let it. */
export function asking(
  { agent, work, atMs }: Case,
  kind: string,
  question: string,
  { isOfModel, ...offer }: Offer,
): Decision {
  const input = { about: 'spec', kind, question: bounded(question, 8_000), ...offer }
  const offered = isOfModel ? offer.choices : []
  const set = { asked: effectIdOf(agent, 0), question, offered, questions: work.questions + 1 }
  return {
    set,
    effects: [{ kind: 'ask_human', input: input as unknown as Json }],
    timers: { [ANSWER]: atMs + work.brought.settings.limits.escalationMs },
  }
}

/** Begins to think about something in the state that the move leads to. */
export function think(
  { agent, work }: Case,
  move: MoveTo,
  task: string,
  variables: Readonly<Record<string, string | BlobRef>>,
  set: JsonObject,
): Decision {
  const { settings } = work.brought
  const turnsMax = settings.limits.reviewTurns
  const isEnough = work.questions >= settings.limits.reviewTurns
  const assignment = {
    task,
    withheld: isEnough ? ['ask_user'] : [],
    state: move.to,
    story: null,
    workspace: null,
    variables: { ...variables, turns: String(turnsMax) },
    turnsMax,
  }
  const { decision } = beginThinking(agent, assignment, settings.minds.pm)
  return { ...decision, move, set: { ...decision.set, ...set } }
}
