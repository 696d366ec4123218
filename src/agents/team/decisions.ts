import type { EventName } from '../../machines/events.ts'
import type { Decision } from '../role.ts'
import type { Spent } from '../thinking/thinking.ts'
import type { JsonObject } from '../values.ts'

/** A row of a table that leaves a state. */
export type MoveTo = { readonly event: EventName; readonly to: string }

const SAID_CHARS_MAX = 500

/** What was used up, in words, with those of the provider where there are any. */
export function describeSpent({ what, said }: Spent): string {
  if (typeof what === 'string') {
    const spent = `its budget is spent (${what})`
    return said === undefined ? spent : `${spent}: ${said.slice(0, SAID_CHARS_MAX)}`
  }
  return what.what === 'unpriced'
    ? `dollars of the ${what.scope} are limited, and nobody knows the price of its model`
    : `the budget of the ${what.scope} is spent (${what.what})`
}

/** Two parts of one decision; the second wins where both say something. */
export function joined(a: Decision, b: Decision): Decision {
  const set: JsonObject = { ...a.set, ...b.set }
  return { ...a, ...b, set, send: [...(a.send ?? []), ...(b.send ?? [])] }
}
