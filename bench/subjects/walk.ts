import type { Decision, Role } from '../../src/agents/role.ts'
import type { EventName } from '../../src/machines/events.ts'
import { coderF } from '../../src/machines/tables/coder-f.ts'

/** One transition of the walk. */
interface Move {
  readonly event: EventName
  readonly to: string
}

type Moves = Readonly<Record<string, Move>>

/** Told to advance: from WAITING to TESTING, and then to and fro between TESTING and FIXING. */
export const ONWARD: Moves = {
  WAITING: { event: 'story_assigned', to: 'SETUP' },
  SETUP: { event: 'workspace_ready', to: 'PLANNING' },
  PLANNING: { event: 'plan_submitted', to: 'PLAN_REVIEW' },
  PLAN_REVIEW: { event: 'review_approved', to: 'CODING' },
  CODING: { event: 'code_completed', to: 'TESTING' },
  TESTING: { event: 'tests_failed', to: 'FIXING' },
  FIXING: { event: 'code_completed', to: 'TESTING' },
}

/** Told to conclude: the way to the end. */
const HOMEWARD: Moves = {
  ...ONWARD,
  TESTING: { event: 'tests_passed', to: 'CODE_REVIEW' },
  CODE_REVIEW: { event: 'review_approved', to: 'AWAIT_MERGE' },
  AWAIT_MERGE: { event: 'merged', to: 'DONE' },
}

/** The kind of the effect that an agent told to wait asks for; somebody outside answers it. */
export const ANSWERED_KIND = 'ask'

const WAIT_MS = 30 * 86_400_000

/** A coder that makes one legal move for each event, or waits with an armed timer far ahead. */
export const walker: Role = {
  name: 'walker',
  machine: coderF,
  recycles: false,
  initialData: {},
  handle(agent, event): Decision {
    switch (event.type) {
      case 'wait':
        return { timers: { deadline: event.atMs + WAIT_MS } }
      case 'ask':
        return {
          timers: { deadline: event.atMs + WAIT_MS },
          effects: [{ kind: ANSWERED_KIND, input: null }],
        }
      case 'conclude':
        return take(HOMEWARD, agent.state)
      default:
        return take(ONWARD, agent.state)
    }
  },
}

function take(moves: Moves, state: string | null): Decision {
  const move = moves[state ?? '']
  return move === undefined ? {} : { move }
}
