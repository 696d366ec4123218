import type { ToolsUsed } from './outcomes.ts'

/** What calls came to, by the beginnings of their keys. It is in every row, and so it is short. */
export type Repetition = Readonly<Record<string, Known>>

type Known = readonly [
  /** The beginning of what stands for its answer. */
  result: string,
  /** How often in a row it came to that since something else changed. */
  times: number,
  /** How often it counted as a change itself. */
  changes: number,
]

/** A call that came to the same so often is not carried out again. */
export const SAME_MAX = 3

/**
 * How many different calls are remembered: two replies with as many as one may have. They are at
 * most 4 KB of a row. A loop through more of them ends with the turns of its state.
 */
const REMEMBERED_MAX = 128

/** 48 bits of a hash: enough to tell some hundred calls apart. */
const HASH_CHARS = 8

/** Those of the calls, made at once, of which another time would tell nothing new. */
export function repetitiveAmong<Call extends { readonly key: string }>(
  known: Repetition,
  calls: readonly Call[],
): readonly Call[] {
  const counts = new Map<string, number>()
  return calls.filter(({ key }) => {
    const [, times] = known[short(key)] ?? UNKNOWN
    const before = counts.get(key) ?? times
    counts.set(key, before + 1)
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
  let next = new Map(Object.entries(known))
  const calls = answers.map(({ id }) => ({ id, key: keys.get(id) ?? '' }))
  const refused = new Set(repetitiveAmong(known, calls).map(({ id }) => id))
  for (const { id, result, mayHaveChanged } of answers) {
    const key = keys.get(id)
    // Advice is no answer: what was refused stays refused.
    if (key === undefined || refused.has(id)) continue
    const [before, times, changes] = next.get(short(key)) ?? UNKNOWN
    const isNew = before !== short(result)
    const isChange = mayHaveChanged && isNew && changes < SAME_MAX
    if (isChange) next = askedAnew(next)
    next.delete(short(key))
    next.set(short(key), [short(result), isNew ? 1 : times + 1, changes + (isChange ? 1 : 0)])
  }
  return Object.fromEntries([...next].slice(-REMEMBERED_MAX))
}

/** What is known, without what an earlier version kept in another form. */
export function knownBefore(known: Repetition): Repetition {
  // It is asked with every event, and as a rule there is nothing to leave out.
  if (Object.values(known).every(Array.isArray)) return known
  return Object.fromEntries(Object.entries(known).filter(([, entry]) => Array.isArray(entry)))
}

const UNKNOWN: Known = ['', 0, 0]

const short = (hash: string) => hash.slice(0, HASH_CHARS)

/** What is left to know after a change: which calls counted as one. What only reads begins anew. */
function askedAnew(known: ReadonlyMap<string, Known>): Map<string, Known> {
  const changing = [...known].filter(([, [, , changes]]) => changes > 0)
  return new Map(changing.map(([key, [result, , changes]]) => [key, [result, 0, changes]]))
}
