import type { Message } from '../brains/brain.ts'
import { TODO_TOOL_NAME, todosIn } from '../tools/todo-tool.ts'
import { FAILURE_CHARS_MAX, shortened } from './fitting.ts'
import { type KeptSections, sectionsIn, withSections } from './kept-sections.ts'
import { lineIn, type OpenFailure, openFailures } from './open-failures.ts'
import { receivedMessages } from './received-messages.ts'
import type { Conversation } from './transcript.ts'

/** The last exchange is taken over as it is, unless it is longer than this, or most of it all. */
const LAST_CHARS_MAX = 40_000
const LAST_SHARE_MAX = 0.2

/** Each kind of what is kept may have so much of all that there was: a window may be small. */
const SECTION_SHARE_MAX = 0.1
/** What all commands that fail may have together. */
const COMMANDS_CHARS_MAX = 8_000
/** Less of what a command said would tell nothing. */
const COMMAND_CHARS_MIN = 100

/** How many messages of others are kept, and what they may have together. */
const MESSAGES_MAX = 10
const MESSAGES_CHARS_MAX = 12_000

/** The words around a summary. */
export interface CompactionWords {
  readonly request: string
  summary(text: string): string
}

/**
 * What a conversation goes on with: its first message, which holds the story and the plan; the
 * summary, with the model's own decisions; what others told it, what fails now and the list of what
 * is to be done, word for word; and the last exchange.
 */
export function summedUp(
  { messages }: Conversation,
  summary: string,
  words: CompactionWords,
): readonly Message[] {
  const [first] = messages
  const todos = lastTodos(messages)
  const exchange = lastExchange(messages)
  const charsMax = JSON.stringify(messages).length * SECTION_SHARE_MAX
  const text = withSections(words.summary(summary), {
    message: newestMessages(messages, charsMax),
    ...failuresBeside(exchange, messages, charsMax),
    ...(todos !== undefined && { todos: [todos] }),
  })
  return [...(first === undefined ? [] : [first]), { role: 'user', text }, ...exchange]
}

function newestMessages(messages: readonly Message[], charsMax: number): readonly string[] {
  const newest = receivedMessages(messages).slice(-MESSAGES_MAX)
  const charsEach = shareOf(newest, Math.min(MESSAGES_CHARS_MAX, charsMax))
  return newest.map((text) => shortened(text, charsEach))
}

/** What fails now, unless the last exchange shows it. */
function failuresBeside(
  exchange: readonly Message[],
  messages: readonly Message[],
  charsMax: number,
): KeptSections {
  const shown = exchange.flatMap((message) => (message.role === 'tool' ? message.results : []))
  const isShown = ({ result }: OpenFailure) => result !== undefined && shown.includes(result)
  const { tests, commands } = openFailures(messages)
  const ofTests = tests === undefined || isShown(tests) ? [] : [tests.text]
  const ofCommands = commands.filter((command) => !isShown(command))
  const texts = ofCommands.map(({ text }) => text)
  const charsEach = shareOf(texts, Math.min(COMMANDS_CHARS_MAX, charsMax))
  return {
    tests: ofTests.map((text) => shortened(text, Math.min(FAILURE_CHARS_MAX, charsMax))),
    command: ofCommands.map((command) => {
      // Whole, since a command that succeeds later is known by it.
      const line = lineIn(command)
      const room = Math.max(COMMAND_CHARS_MIN, charsEach - line.length)
      return `${line}${shortened(command.text.slice(line.length), room)}`
    }),
  }
}

/** How long each of these texts may be: what short ones leave of the room, long ones have. */
function shareOf(texts: readonly string[], charsMax: number): number {
  const lengths = texts.map(({ length }) => length).sort((a, b) => a - b)
  let left = charsMax
  for (const [at, length] of lengths.entries()) {
    const share = left / (lengths.length - at)
    if (length > share) return share
    left -= length
  }
  return charsMax
}

function lastTodos(messages: readonly Message[]): string | undefined {
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? message.toolCalls : [],
  )
  const lists = calls
    .filter(({ name }) => name === TODO_TOOL_NAME)
    .map(({ input }) => todosIn(input))
  const told = messages.flatMap((message) =>
    message.role === 'user' ? [sectionsIn(message.text).todos?.at(-1)] : [],
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
