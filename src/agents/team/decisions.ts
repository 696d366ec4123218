import type { Exhausted } from '../../ledger/limits.ts'
import type { EventName } from '../../machines/events.ts'
import type { Decision } from '../role.ts'
import type { JsonObject } from '../values.ts'

/** A row of a table that leaves a state. */
export type MoveTo = { readonly event: EventName; readonly to: string }

/** What was used up, in words. */
export function describeSpent(what: 'turns' | 'context' | Exhausted): string {
  if (typeof what === 'string') return `its budget is spent (${what})`
  return what.what === 'unpriced'
    ? `dollars of the ${what.scope} are limited, and nobody knows the price of its model`
    : `the budget of the ${what.scope} is spent (${what.what})`
}

/** Two parts of one decision; the second wins where both say something. */
export function joined(a: Decision, b: Decision): Decision {
  const set: JsonObject = { ...a.set, ...b.set }
  return { ...a, ...b, set, send: [...(a.send ?? []), ...(b.send ?? [])] }
}
