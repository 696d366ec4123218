import type { ToolsUsed } from './outcomes.ts'

/** What calls came to, by their keys. */
export type Repetition = Readonly<Record<string, Known>>

type Known = {
  readonly result: string
  /** How often in a row it came to that since something else changed. */
  readonly times: number
  /** How often it counted as a change itself. */
  readonly changes: number
}

/** A call that came to the same so often is not carried out again. */
export const SAME_MAX = 3

/** How many different calls are remembered. */
const REMEMBERED_MAX = 32

/** Those of the calls, made at once, of which another time would tell nothing new. */
export function repetitiveAmong<Call extends { readonly key: string }>(
  known: Repetition,
  calls: readonly Call[],
): readonly Call[] {
  const times = new Map<string, number>()
  return calls.filter(({ key }) => {
    const before = times.get(key) ?? known[key]?.times ?? 0
    times.set(key, before + 1)
    return before >= SAME_MAX
  })
}

/**
 * Takes in what calls came to. After one that may have changed something, every other call may come
 * out anew. It counts as a change only where it came to something new itself, and that not without
 * end: so calls that take turns are refused in the end, also where one of them prints the time.
 */
export function remember(
  known: Repetition,
  keys: ReadonlyMap<string, string>,
  { answers }: ToolsUsed,
): Repetition {
  const next = new Map(Object.entries(known))
  const calls = answers.map(({ id }) => ({ id, key: keys.get(id) ?? '' }))
  const refused = new Set(repetitiveAmong(known, calls).map(({ id }) => id))
  for (const { id, result, mayHaveChanged } of answers) {
    const key = keys.get(id)
    // Advice is no answer: what was refused stays refused.
    if (key === undefined || refused.has(id)) continue
    const { times, changes, result: before } = next.get(key) ?? { times: 0, changes: 0 }
    const isNew = before !== result
    const isChange = mayHaveChanged && isNew && changes < SAME_MAX
    if (isChange) for (const [other, entry] of next) next.set(other, { ...entry, times: 0 })
    next.delete(key)
    next.set(key, {
      result,
      times: isNew ? 1 : times + 1,
      changes: isChange ? changes + 1 : changes,
    })
  }
  return Object.fromEntries([...next].slice(-REMEMBERED_MAX))
}
