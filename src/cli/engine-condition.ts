import { type Condition, connectControl } from './engine/control.ts'

/** How the engine of a state folder is doing; null where there is none, or it does not say. */
export async function readCondition(stateFolder: string): Promise<Condition | null> {
  const control = await connectControl(stateFolder)
  // One that ends at this moment has nothing more to say, and an older one does not know how.
  return (await control?.condition().catch(() => undefined)) ?? null
}

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
