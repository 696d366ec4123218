import type { Amounts } from '../../ledger/amounts.ts'
import type { Exhausted } from '../../ledger/limits.ts'
import { SPENDING_GRANTED, SPENDING_REFUSED } from '../ledger-keeper.ts'
import type { AgentEvent } from '../role.ts'

/** What the ledger says to a call. */
export interface Leave {
  readonly call: string
  /** Whether the next call would go over a limit. */
  readonly isLast?: boolean
  /** Whether it got less than it needs, since it is the last. */
  readonly isShort?: boolean
  /** What was set aside, which may be less than was asked for. */
  readonly amounts?: Amounts
  /** When no more time is left, where that is limited. */
  readonly untilMs?: number
  /** The limit that refuses it. */
  readonly exhausted?: Exhausted
}

/** The ledger's answer; undefined where the event is none. */
export function leaveOf({ type, payload }: AgentEvent): Leave | undefined {
  const isLeave = type === SPENDING_GRANTED || type === SPENDING_REFUSED
  return isLeave ? (payload as unknown as Leave) : undefined
}
