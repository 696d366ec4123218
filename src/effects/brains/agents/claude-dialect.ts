import { z } from 'zod'
import { readTokens } from '../token-count.ts'
import { CLAUDE_DOING, CLAUDE_READING } from './agent-catalog.ts'
import { explainWords } from './agent-failure.ts'
import { TOOL_SERVER } from './agent-prompt.ts'
import type { AgentEnd, ConversationTask } from './agent-turn.ts'
import type { Dialect } from './headless-session.ts'

const READING = ['Read', 'Glob', 'Grep', 'LS', 'TodoWrite', `mcp__${TOOL_SERVER}`]

const count = z.unknown().optional().transform(readTokens)

/** As the API counts: what was read from or written to a cache is no input of its own. */
const usageSchema = z.object({
  input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  output_tokens: count,
})

/** What is no text is not said, and the line counts all the same. */
const word = z.string().optional().catch(undefined)

const blockSchema = z.object({
  type: z.string(),
  id: z.string().optional(),
  tool_use_id: z.string().optional(),
})

const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('system'), model: z.string().optional() }),
  z.object({
    type: z.literal('stream_event'),
    parent_tool_use_id: z.string().nullish(),
    event: z.object({
      type: z.string(),
      delta: z
        .object({
          type: z.string().optional(),
          text: z.string().optional(),
          thinking: z.string().optional(),
        })
        .optional(),
      usage: usageSchema.optional(),
    }),
  }),
  z.object({
    type: z.enum(['assistant', 'user']),
    message: z.object({ content: z.union([z.string(), z.array(blockSchema)]) }),
  }),
  z.object({
    type: z.literal('result'),
    is_error: z.boolean(),
    subtype: z.string(),
    result: z.string().optional(),
    api_error_status: z.int().min(400).max(599).optional().catch(undefined),
    api_error_type: word,
    api_error: word,
    stop_reason: z.string().nullish(),
    usage: usageSchema.optional(),
  }),
])

type Line = z.infer<typeof lineSchema>
type Tokens = z.infer<typeof usageSchema>

/** What `claude -p` prints as `stream-json`. */
export function claudeDialect(task: ConversationTask): Dialect {
  return new ClaudeDialect(task)
}

class ClaudeDialect implements Dialect {
  readonly #task: ConversationTask
  #spent: readonly Tokens[] = []

  constructor(task: ConversationTask) {
    this.#task = task
  }

  argumentsFor({ place, options }: ConversationTask): readonly string[] {
    const servers = { mcpServers: { [TOOL_SERVER]: place.bridge } }
    const isWriting = place.workspace.access === 'write'
    return [
      ...['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
      ...['--strict-mcp-config', '--mcp-config', JSON.stringify(servers)],
      // Not what a repository configures: it could name another address for the user's key.
      ...['--setting-sources', 'user'],
      ...['--permission-mode', isWriting ? 'acceptEdits' : 'default'],
      ...['--allowedTools', [...READING, ...(isWriting ? CLAUDE_DOING : [])].join(',')],
      ...(isWriting ? [] : ['--disallowedTools', CLAUDE_DOING.join(',')]),
      ...(isWriting ? [] : ['--settings', JSON.stringify(CLAUDE_READING)]),
      ...(options.model === undefined ? [] : ['--model', options.model]),
    ]
  }

  read(line: Readonly<Record<string, unknown>>): AgentEnd | undefined {
    const parsed = lineSchema.safeParse(line)
    return parsed.success ? this.#take(parsed.data) : undefined
  }

  #take(line: Line): AgentEnd | undefined {
    const { report } = this.#task
    if (line.type === 'system') report.model = line.model ?? report.model
    else if (line.type === 'stream_event') this.#stream(line)
    else if (line.type === 'result') return this.#end(line)
    else this.#steps(line.message.content)
    return undefined
  }

  #stream({ event, parent_tool_use_id: parent }: Extract<Line, { type: 'stream_event' }>): void {
    const { report } = this.#task
    if (event.type === 'message_delta' && event.usage !== undefined) {
      this.#spent = [...this.#spent, event.usage]
      report.usage = toUsage(this.#spent)
      report.requested()
      report.used(tokensIn(event.usage))
    }
    // What an agent below it says is said to it, and not to us.
    if (parent !== undefined && parent !== null) return
    report.reasoning(event.delta?.thinking ?? '')
    report.text(event.delta?.text ?? '')
  }

  #steps(content: string | readonly z.infer<typeof blockSchema>[]): void {
    if (typeof content === 'string') return
    for (const { type, id, tool_use_id: over } of content) {
      if (type === 'tool_use' && id !== undefined) this.#task.report.stepBegan(id)
      if (type === 'tool_result' && over !== undefined) this.#task.report.stepEnded(over)
    }
  }

  #end(line: Extract<Line, { type: 'result' }>): AgentEnd {
    const { report, place } = this.#task
    if (line.usage !== undefined && this.#spent.length === 0) report.usage = toUsage([line.usage])
    // A 401 is a success by its subtype.
    if (!line.is_error && line.subtype === 'success') {
      return { how: line.stop_reason === 'max_tokens' ? 'length' : 'stop' }
    }
    const words = line.result ?? line.subtype
    // Its words name a status only where it knows no better ones.
    const { api_error_status: statusCode, api_error_type: type, api_error: code } = line
    const failure = explainWords(words, place.secrets, { statusCode, type, code })
    return { how: 'failed', failure }
  }
}

/** All that a request took. */
function tokensIn(spent: Tokens): number {
  const { inputTokens, outputTokens } = toUsage([spent])
  return (inputTokens ?? 0) + (outputTokens ?? 0)
}

function toUsage(spent: readonly Tokens[]) {
  const sum = (name: keyof Tokens) => {
    const counts = spent.flatMap((one) => one[name] ?? [])
    return counts.length === 0 ? null : counts.reduce((total, one) => total + one, 0)
  }
  const inputTokens = sum('input_tokens')
  const cachedTokens = sum('cache_read_input_tokens') ?? 0
  const cacheWriteTokens = sum('cache_creation_input_tokens') ?? 0
  return {
    inputTokens: inputTokens === null ? null : inputTokens + cachedTokens + cacheWriteTokens,
    cachedTokens,
    cacheWriteTokens,
    outputTokens: sum('output_tokens'),
  }
}
