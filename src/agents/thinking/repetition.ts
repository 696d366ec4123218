import type { ToolsUsed } from './outcomes.ts'

/** How often a call in a row came to the same, by the call's key. */
export type Repetition = Readonly<
  Record<string, { readonly result: string; readonly times: number }>
>

/** A call that came to the same so often is not carried out again. */
export const SAME_MAX = 3

/** How many different calls are remembered. */
const REMEMBERED_MAX = 32

/** Whether another time would tell nothing new. */
export function isRepetitive(known: Repetition, key: string): boolean {
  return (known[key]?.times ?? 0) >= SAME_MAX
}

/** Takes in what calls came to. An edit changes the world, so that everything may come out anew. */
export function remember(
  known: Repetition,
  keys: ReadonlyMap<string, string>,
  { answers }: ToolsUsed,
): Repetition {
  if (answers.some(({ hasEdited }) => hasEdited)) return {}
  const next = new Map(Object.entries(known))
  for (const { id, result } of answers) {
    const key = keys.get(id)
    // Advice is no answer: what was refused stays refused.
    if (key === undefined || isRepetitive(known, key)) continue
    const before = next.get(key)
    const times = before?.result === result ? before.times + 1 : 1
    next.delete(key)
    next.set(key, { result, times })
  }
  return Object.fromEntries([...next].slice(-REMEMBERED_MAX))
}
