import type { Message, ToolCall } from '../brains/brain.ts'
import { TODO_TOOL_NAME, todosIn } from '../tools/todo-tool.ts'
import type { Conversation } from './transcript.ts'

/** What an old result is cut to before a conversation is summed up: it must fit for that. */
const OLD_RESULT_CHARS_MAX = 400
const OLD_INPUT_CHARS_MAX = 400

/** The last exchange is taken over as it is, unless it is longer than this, or most of it all. */
const LAST_CHARS_MAX = 40_000
const LAST_SHARE_MAX = 0.25

/** What the list of what is to be done stands under, also for the next summary. */
const LIST = 'Your list of what is to be done:'

/** The words around a summary. */
export interface CompactionWords {
  readonly request: string
  summary(text: string): string
}

/**
 * The conversation with which a summary is asked for. Long results and inputs are cut, since a
 * conversation that has outgrown the window could not be sent to be summed up.
 */
export function toBeSummed({ messages }: Conversation, { request }: CompactionWords): Message[] {
  const [first, ...rest] = messages
  const asked: Message = { role: 'user', text: request }
  return [...(first === undefined ? [] : [first]), ...rest.map(cut), asked]
}

/**
 * What a conversation goes on with: its first message, which holds the story and the plan; the
 * summary, with decisions and open failures; the list of what is to be done, word for word; and
 * the last exchange.
 */
export function summedUp(
  { messages }: Conversation,
  summary: string,
  words: CompactionWords,
): readonly Message[] {
  const [first] = messages
  const todos = lastTodos(messages)
  const list = todos === undefined ? '' : `\n\n${LIST}\n${todos}`
  const told: Message = { role: 'user', text: `${words.summary(summary)}${list}` }
  return [...(first === undefined ? [] : [first]), told, ...lastExchange(messages)]
}

function cut(message: Message): Message {
  if (message.role === 'user') return message
  if (message.role === 'tool') {
    const results = message.results.map((result) => ({
      ...result,
      text: shortened(result.text, OLD_RESULT_CHARS_MAX),
    }))
    return { ...message, results }
  }
  const { opaque: _, ...rest } = message
  return { ...rest, toolCalls: rest.toolCalls.map(cutCall) }
}

function cutCall(call: ToolCall): ToolCall {
  const text = JSON.stringify(call.input) ?? ''
  if (text.length <= OLD_INPUT_CHARS_MAX) return call
  return { ...call, input: { shortened: shortened(text, OLD_INPUT_CHARS_MAX) } }
}

function shortened(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const half = charsMax / 2
  return `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`
}

function lastTodos(messages: readonly Message[]): string | undefined {
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? message.toolCalls : [],
  )
  const lists = calls
    .filter(({ name }) => name === TODO_TOOL_NAME)
    .map(({ input }) => todosIn(input))
  const told = messages.flatMap((message) =>
    message.role === 'user' && message.text.includes(LIST)
      ? [message.text.slice(message.text.lastIndexOf(LIST) + LIST.length).trim()]
      : [],
  )
  return lists.findLast((list) => list !== undefined) ?? told.at(-1)
}

/** The last reply with its results; nothing when it is long or not answered. */
function lastExchange(messages: readonly Message[]): readonly Message[] {
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const exchange = at > 0 ? messages.slice(at) : []
  const charsMax = Math.min(LAST_CHARS_MAX, JSON.stringify(messages).length * LAST_SHARE_MAX)
  return JSON.stringify(exchange).length <= charsMax ? exchange : []
}
