import type { MachineTable, Transition } from './table.ts'

/** Where an agent waits, with all its data, for a service that is out. */
export const SUSPEND = 'SUSPEND'

/** Where an agent goes when it cannot go on. */
export const FAILURE = 'ERROR'

/** The states that the overlay adds to a machine that does not have them. */
export const OVERLAY_STATES: Readonly<Record<string, string>> = {
  [SUSPEND]: 'Keep everything and wait until every configured service answers again.',
  [FAILURE]: 'The suspension came to no good end; the orchestrator recycles the agent.',
}

/** The overlay's rows as types: what leaves `S` in a machine whose own states are `Own`. */
export type SuspendMove<Own extends string, S> =
  | (S extends Suspendable<Own>
      ? { readonly event: 'service_unavailable'; readonly to: typeof SUSPEND }
      : never)
  | (S extends typeof SUSPEND
      ?
          | { readonly event: 'service_restored'; readonly to: Suspendable<Own> }
          | {
              readonly event: 'suspension_timed_out' | 'channel_closed'
              readonly to: typeof FAILURE
            }
      : never)

type Suspendable<Own extends string> = Exclude<Own, 'DONE' | typeof FAILURE | typeof SUSPEND>

/** The SUSPEND rows of a machine: in from every state but DONE and ERROR, out to it or to ERROR. */
export function suspendRows(table: MachineTable): Transition[] {
  const suspendable = Object.keys(table.states).filter(
    (state) => state !== 'DONE' && state !== FAILURE && state !== SUSPEND,
  )
  return [
    ...suspendable.map((from): Transition => ({ from, event: 'service_unavailable', to: SUSPEND })),
    ...suspendable.map(
      (to): Transition => ({ from: SUSPEND, event: 'service_restored', to, toOrigin: true }),
    ),
    { from: SUSPEND, event: 'suspension_timed_out', to: FAILURE },
    { from: SUSPEND, event: 'channel_closed', to: FAILURE },
  ]
}
