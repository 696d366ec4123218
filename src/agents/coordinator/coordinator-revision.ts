import { coordinator1 } from '../../machines/tables/coordinator-1.ts'
import { coordinator2 } from '../../machines/tables/coordinator-2.ts'
import type { Outcome } from './protocol.ts'

/** How a provider can be lost, by the names of revision 2. */
type Loss = 'provider_network_error' | 'provider_timeout' | 'provider_auth_error'

/** The service whose loss ended something: a provider, or the forge. */
export type Cause = Loss | 'forge_lost' | 'forge_refused'

/** Where the two revisions of the coordinator part ways. Whatever is not here is the same in both. */
export interface CoordinatorRevision {
  readonly machine: typeof coordinator1 | typeof coordinator2
  /** How a discussion ends. */
  readonly discussed: Extract<Outcome, 'await_operator_confirm' | 'discussion_complete'>
  /** Whether a lost provider has rows and outcomes of its own; otherwise the task is given up. */
  readonly knowsLosses: boolean
}

export const COORDINATOR_REVISIONS: Readonly<Record<'1' | '2', CoordinatorRevision>> = {
  1: { machine: coordinator1, discussed: 'await_operator_confirm', knowsLosses: false },
  2: { machine: coordinator2, discussed: 'discussion_complete', knowsLosses: true },
}

/** What each failure of a provider is called; whatever is not here is no loss of a provider. */
const LOSSES: Readonly<Record<string, Loss>> = {
  network: 'provider_network_error',
  overloaded: 'provider_network_error',
  rate_limited: 'provider_network_error',
  timeout: 'provider_timeout',
  stalled: 'provider_timeout',
  auth: 'provider_auth_error',
  // The account is refused, and nothing but its owner can change that.
  quota: 'provider_auth_error',
}

/** The loss that a failure's kind stands for. Words in a message decide nothing. */
export function lossOf(kind: string): Loss | undefined {
  return Object.hasOwn(LOSSES, kind) ? LOSSES[kind] : undefined
}

const FORGE_CAUSES: Readonly<Record<string, Cause>> = {
  network: 'forge_lost',
  server_error: 'forge_lost',
  rate_limited: 'forge_lost',
  timeout: 'forge_lost',
  unauthorized: 'forge_refused',
}

/** The same for what a forge answers; undefined where it was there, and did not do it. */
export function forgeCauseOf(code: string): Cause | undefined {
  return Object.hasOwn(FORGE_CAUSES, code) ? FORGE_CAUSES[code] : undefined
}
