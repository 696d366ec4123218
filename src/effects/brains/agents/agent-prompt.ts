import type { Message, ToolDefinition, Turn } from '../brain.ts'

/** The name under which an agent finds our tools. */
export const TOOL_SERVER = 'slipway'

/** Everything that an agent is told for a turn, as one text. */
export function writePrompt(turn: Turn): string {
  const sections = [turn.system, ...turn.messages.map(writeMessage), writeEnd(turn)]
  return sections.filter((section) => section !== '').join('\n\n')
}

/** The tools that a turn offers: the forced one alone, where one is forced. */
export function offeredTools({ tools, forcedTool }: Turn): readonly ToolDefinition[] {
  const forced = tools.filter(({ name }) => name === forcedTool)
  return forced.length > 0 ? forced : tools
}

function writeMessage(message: Message): string {
  if (message.role === 'user') return message.text
  if (message.role === 'tool') {
    return message.results
      .map(({ name, text, isError }) => `${name} ${isError ? 'failed' : 'answered'}:\n${text}`)
      .join('\n\n')
  }
  const calls = message.toolCalls.map(
    ({ name, input }) => `You called ${name} with ${JSON.stringify(input)}.`,
  )
  const said = message.text === '' ? [] : [`You said:\n${message.text}`]
  return [...said, ...calls].join('\n\n')
}

function writeEnd(turn: Turn): string {
  const names = offeredTools(turn).map(({ name }) => name)
  if (names.length === 0) return ''
  const list = names.length === 1 ? `the tool ${names[0]}` : `one of the tools ${names.join(', ')}`
  return `Work with your own tools. When you are through, call ${list} of the MCP server "${TOOL_SERVER}". That call ends your work, and what you only write down reaches nobody. Make no commits.`
}
