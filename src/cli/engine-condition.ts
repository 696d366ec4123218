import type { Condition } from './engine/control.ts'

/**
 * What a user should know of it, a line for each thing. Without an engine that says how it is, it
 * is what held when the run began.
 */
export function describeCondition(
  condition: Condition | null,
  isolation: string | null,
): readonly string[] {
  if (condition === null) {
    return isolation === 'none' ? ['Nothing was confined: commands of its models ran as you.'] : []
  }
  const { health, unconfined } = condition
  const lines = unconfined === null ? [] : [unconfined]
  switch (health.state) {
    case 'well':
      return lines
    case 'failed':
      return [...lines, `The engine has failed: ${health.error}`]
    case 'waiting_for_journal':
    case 'waiting_for_room':
      return [...lines, `It waits: ${health.error}`]
  }
}
