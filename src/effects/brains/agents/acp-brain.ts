import type { Brain } from '../brain.ts'
import { type AgentBrainOptions, thinkWithAgent } from './agent-turn.ts'

/** A brain that is an agent of another maker, talked to over the Agent Client Protocol. */
export function openAcpBrain(options: AgentBrainOptions): Brain {
  const { agent } = options
  const load = async () => {
    if (agent.acp === undefined) throw new Error(`${agent.name} does not speak the protocol`)
    const { speakAcp } = await import('./acp-session.ts')
    return speakAcp(agent.acp)
  }
  return {
    name: agent.name,
    think: (turn, signal) => thinkWithAgent(options, load, turn, signal),
  }
}
