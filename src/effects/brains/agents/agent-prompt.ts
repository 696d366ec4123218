import type { Message, ToolDefinition, Turn } from '../brain.ts'

/** The name under which an agent finds our tools. */
export const TOOL_SERVER = 'slipway'

/** Everything that an agent is told for a turn, as one text of whole characters. */
export function writePrompt(turn: Turn): string {
  const sections = [turn.system, ...turn.messages.map(writeMessage), writeEnd(turn)]
  const text = sections.filter((section) => section !== '').join('\n\n')
  // Over the protocol Codex never reacts to half a surrogate pair, and Gemini CLI passes it on.
  return text.toWellFormed()
}

/**
 * The tools that an agent is offered: those that end the state, since every call of ours ends its
 * session and all else it does with its own; the forced one alone, where one is forced.
 */
export function offeredTools({ tools, endsWith, forcedTool }: Turn): readonly ToolDefinition[] {
  const ending = tools.filter(({ name }) => endsWith === undefined || endsWith.includes(name))
  const forced = ending.filter(({ name }) => name === forcedTool)
  return forced.length > 0 ? forced : ending
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
  const others =
    turn.endsWith === undefined ? '' : ' Other tools that you are told of are not there.'
  return `Work with your own tools.${others} When you are through, call ${list} of the MCP server "${TOOL_SERVER}". That call ends your work, and what you only write down reaches nobody. Make no commits.`
}
