import type { Move } from '../../machines/machine.ts'
import { architectD } from '../../machines/tables/architect-d.ts'
import { architectI } from '../../machines/tables/architect-i.ts'
import type { AgentView } from '../role.ts'
import type { EffectId, JsonObject } from '../values.ts'
import type { RequestMessage, ResponseMessage } from './protocol.ts'

/** What an architect has in its data. */
export interface ArchitectWork {
  /** What is being decided. */
  readonly request: RequestMessage | null
  /** What was decided, while the machine is on its way to where that is said. */
  readonly response: ResponseMessage | null
  /** Whether a spec is under way, so that there is something to monitor. */
  readonly hasSpec: boolean
  /** The question that a human has not answered. */
  readonly asked: EffectId | null
  /** What a model has thought of as answers to it. */
  readonly offered: readonly string[]
  /** What was wrong with the stories handed in last for a request, and how often in a row. */
  readonly untaken: Untaken | null
}

type Untaken = { readonly request: string; readonly problems: string; readonly times: number }

const NOTHING: ArchitectWork = {
  request: null,
  response: null,
  hasSpec: false,
  asked: null,
  offered: [],
  untaken: null,
}

export function architectWorkOf({ data }: Pick<AgentView, 'data'>): ArchitectWork {
  return { ...NOTHING, ...(data as unknown as ArchitectWork) }
}

const COMPARED_CHARS_MAX = 2_000

/** Counts stories that could not be taken; other problems than before begin anew. */
export function countUntaken({ request, untaken }: ArchitectWork, message: string): Untaken {
  const id = request?.id ?? ''
  const problems = message.slice(0, COMPARED_CHARS_MAX)
  const isSame = untaken?.request === id && untaken.problems === problems
  return { request: id, problems, times: isSame ? untaken.times + 1 : 1 }
}

/** Data as a decision stores it. */
export function asArchitectData(changed: Partial<ArchitectWork>): JsonObject {
  return changed as unknown as JsonObject
}

type MoveI<State extends keyof (typeof architectI)['states']> = Move<typeof architectI, State>
type MoveD<State extends keyof (typeof architectD)['states']> = Move<typeof architectD, State>

/** Where the two revisions of the architect part ways. */
export interface ArchitectRevision {
  readonly name: 'D' | 'I'
  readonly machine: typeof architectD | typeof architectI
  /** Where a spec is turned into stories. */
  readonly scopesIn: 'SCOPING' | 'REQUEST'
  readonly scoped: MoveD<'SCOPING'> | MoveI<'REQUEST'>
  /** Whether a spec may be sent back from there without an error. */
  readonly canSendSpecBack: boolean
  /** Whether a plan may pass unread. */
  readonly mayPassPlans: boolean
  /** Whether a lost channel takes an idle architect to its failure state. */
  readonly failsWhenCutOff: boolean
  /** A merge: revision I releases dependents while dispatching, revision D where it is. */
  readonly merged: MoveD<'REQUEST'> | MoveI<'REQUEST'>
}

const ARCHITECT_I: ArchitectRevision = {
  name: 'I',
  machine: architectI,
  scopesIn: 'REQUEST',
  scoped: { event: 'spec_approved', to: 'DISPATCHING' },
  canSendSpecBack: true,
  mayPassPlans: true,
  failsWhenCutOff: true,
  merged: { event: 'merged', to: 'DISPATCHING' },
}

const ARCHITECT_D: ArchitectRevision = {
  name: 'D',
  machine: architectD,
  scopesIn: 'SCOPING',
  scoped: { event: 'stories_queued', to: 'DISPATCHING' },
  canSendSpecBack: false,
  mayPassPlans: false,
  failsWhenCutOff: false,
  merged: { event: 'merged', to: 'MONITORING' },
}

export const ARCHITECT_REVISIONS = { D: ARCHITECT_D, I: ARCHITECT_I } as const
