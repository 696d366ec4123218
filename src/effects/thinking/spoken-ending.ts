import type { Toolbox } from '../tools/toolbox.ts'
import type { Reply } from './reply.ts'
import { readStrictJson } from './strict-json.ts'

/**
 * A reply that says in words what the tool is called with that ends the state, as that call. Models
 * without a sense for tools answer so. Any other reply stays as it is.
 */
export function asSpokenEnding(reply: Reply, toolbox: Toolbox, messageCount: number): Reply {
  const { text, calls, finish } = reply
  if (toolbox.takesJson === undefined || calls.length > 0 || finish !== 'stop') return reply
  const input = readStrictJson(text)
  if (input === undefined) return reply
  const call = { id: `spoken_${messageCount}`, name: toolbox.endsWith[0], input }
  return { ...reply, calls: [call], finish: 'tool_calls' }
}
