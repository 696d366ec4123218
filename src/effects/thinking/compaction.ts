import type { Message } from '../brains/brain.ts'
import { TODO_TOOL_NAME, todosIn } from '../tools/todo-tool.ts'
import { FAILURE_CHARS_MAX, shortened } from './fitting.ts'
import { type KeptSections, sectionsIn, withSections } from './kept-sections.ts'
import { type OpenFailure, openFailures } from './open-failures.ts'
import type { Conversation } from './transcript.ts'

/** The last exchange is taken over as it is, unless it is longer than this, or most of it all. */
const LAST_CHARS_MAX = 40_000
const LAST_SHARE_MAX = 0.25

/** What fails now is taken over up to so much of all that there was: a window may be small. */
const FAILURE_SHARE_MAX = 0.1

/** The words around a summary. */
export interface CompactionWords {
  readonly request: string
  summary(text: string): string
}

/**
 * What a conversation goes on with: its first message, which holds the story and the plan; the
 * summary, with decisions; what fails now and the list of what is to be done, word for word; and
 * the last exchange.
 */
export function summedUp(
  { messages }: Conversation,
  summary: string,
  words: CompactionWords,
): readonly Message[] {
  const [first] = messages
  const todos = lastTodos(messages)
  const exchange = lastExchange(messages)
  const text = withSections(words.summary(summary), {
    ...failuresBeside(exchange, messages),
    ...(todos !== undefined && { todos }),
  })
  return [...(first === undefined ? [] : [first]), { role: 'user', text }, ...exchange]
}

/** What fails now, unless the last exchange shows it. */
function failuresBeside(exchange: readonly Message[], messages: readonly Message[]): KeptSections {
  const charsMax = Math.min(FAILURE_CHARS_MAX, JSON.stringify(messages).length * FAILURE_SHARE_MAX)
  const shown = exchange.flatMap((message) => (message.role === 'tool' ? message.results : []))
  const kept = ({ text, result }: OpenFailure) =>
    result !== undefined && shown.includes(result) ? undefined : shortened(text, charsMax)
  const { tests, command } = openFailures(messages)
  const [ofTests, ofCommand] = [tests && kept(tests), command && kept(command)]
  return {
    ...(ofTests !== undefined && { tests: ofTests }),
    ...(ofCommand !== undefined && { command: ofCommand }),
  }
}

function lastTodos(messages: readonly Message[]): string | undefined {
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? message.toolCalls : [],
  )
  const lists = calls
    .filter(({ name }) => name === TODO_TOOL_NAME)
    .map(({ input }) => todosIn(input))
  const told = messages.flatMap((message) =>
    message.role === 'user' ? [sectionsIn(message.text).todos] : [],
  )
  const isList = (list: string | undefined) => list !== undefined
  return lists.findLast(isList) ?? told.findLast(isList)
}

/** The last reply with its results; nothing when it is long or not answered. */
function lastExchange(messages: readonly Message[]): readonly Message[] {
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const exchange = at > 0 ? messages.slice(at) : []
  const charsMax = Math.min(LAST_CHARS_MAX, JSON.stringify(messages).length * LAST_SHARE_MAX)
  return JSON.stringify(exchange).length <= charsMax ? exchange : []
}
