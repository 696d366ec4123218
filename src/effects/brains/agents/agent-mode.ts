import type { Agent } from './agent.ts'
import { findInstallation } from './installation.ts'

/**
 * How an agent is talked to: over the protocol, or without one where the program that speaks it is
 * not installed. In a container nobody has looked, and its image is told to have the adapter.
 */
export async function modeOf(
  { acp, headless }: Agent,
  path: string,
  isInContainer: boolean,
): Promise<'acp' | 'headless'> {
  if (headless === undefined) return 'acp'
  if (acp === undefined) return 'headless'
  if (isInContainer) return 'acp'
  // What cannot be read cannot be started either.
  const found = await findInstallation(acp.argv, path).catch(() => undefined)
  return found === undefined ? 'headless' : 'acp'
}
