import type { Brain } from '../brain.ts'
import { type AgentBrainOptions, thinkWithAgent } from './agent-turn.ts'

/** A brain that is an agent of another maker, given one prompt; for where no adapter is installed. */
export function openHeadlessBrain(options: AgentBrainOptions): Brain {
  const { agent } = options
  const load = async () => {
    if (agent.headless === undefined) throw new Error(`${agent.name} is not run without a protocol`)
    const { speakHeadless } = await import('./headless-session.ts')
    return speakHeadless(agent.headless)
  }
  return {
    name: agent.name,
    think: (turn, signal) => thinkWithAgent(options, load, turn, signal),
  }
}
