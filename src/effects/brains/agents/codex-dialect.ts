import { z } from 'zod'
import { readTokens } from '../token-count.ts'
import { explainWords } from './agent-failure.ts'
import { TOOL_SERVER } from './agent-prompt.ts'
import type { ConversationTask } from './agent-turn.ts'
import type { Dialect } from './headless-session.ts'

const count = z.unknown().optional().transform(readTokens)

const lineSchema = z.object({
  type: z.string(),
  item: z
    .object({
      id: z.string(),
      type: z.string(),
      text: z.string().optional(),
      server: z.string().optional(),
      tool: z.string().optional(),
      arguments: z.unknown().optional(),
    })
    .optional(),
  message: z.string().optional(),
  error: z.object({ message: z.string() }).optional(),
  usage: z
    .object({
      input_tokens: count,
      cached_input_tokens: count,
      output_tokens: count,
    })
    .optional(),
})

type Line = z.infer<typeof lineSchema>
type Item = NonNullable<Line['item']>

/** Items that are words; all others are steps. */
const WORDS: readonly string[] = ['agent_message', 'reasoning', 'error']

/** How long our tools may take to be there. */
const JOINING_SEC_MAX = 60

/** What `codex exec --json` prints. */
export function codexDialect(task: ConversationTask): Dialect {
  const { report, place } = task
  return {
    argumentsFor,
    read(line) {
      const parsed = lineSchema.safeParse(line)
      if (!parsed.success) return undefined
      const { type, item, usage, error } = parsed.data
      if (item !== undefined) readItem(task, type, item)
      if (usage !== undefined) {
        report.usage = {
          inputTokens: usage.input_tokens,
          cachedTokens: usage.cached_input_tokens,
          cacheWriteTokens: null,
          outputTokens: usage.output_tokens,
        }
      }
      if (type === 'turn.completed') return { how: 'stop' }
      if (type !== 'turn.failed') return undefined
      const failure = explainWords(error?.message ?? 'the agent failed', place.secrets)
      return { how: 'failed', failure }
    },
  }
}

function argumentsFor({ place, options }: ConversationTask): readonly string[] {
  const { command, args, env } = place.bridge
  // A string or a list of JSON is one of TOML too.
  const settings: Readonly<Record<string, unknown>> = {
    approval_policy: 'never',
    [`mcp_servers.${TOOL_SERVER}.command`]: command,
    [`mcp_servers.${TOOL_SERVER}.args`]: args,
    ...Object.fromEntries(
      Object.entries(env).map(([name, value]) => [`mcp_servers.${TOOL_SERVER}.env.${name}`, value]),
    ),
    // Else its model may begin before our tools are there.
    [`mcp_servers.${TOOL_SERVER}.required`]: true,
    [`mcp_servers.${TOOL_SERVER}.startup_timeout_sec`]: JOINING_SEC_MAX,
    [`mcp_servers.${TOOL_SERVER}.default_tools_approval_mode`]: 'approve',
  }
  const own = place.workspace.access === 'write' ? 'workspace-write' : 'read-only'
  return [
    ...['exec', '--json', '--skip-git-repo-check'],
    // What a repository configures could name a command, or another address for the user's key.
    ...['-c', `projects={${JSON.stringify(place.workspace.folder)}={trust_level="untrusted"}}`],
    ...['--sandbox', place.confinement === 'ours' ? 'danger-full-access' : own],
    ...Object.entries(settings).flatMap(([key, value]) => [
      '-c',
      `${key}=${JSON.stringify(value)}`,
    ]),
    ...(options.model === undefined ? [] : ['--model', options.model]),
    '-',
  ]
}

function readItem({ report, place }: ConversationTask, type: string, item: Item): void {
  if (type === 'item.started' && item.type === 'mcp_tool_call' && item.server === TOOL_SERVER) {
    place.tools.announce(item.tool ?? '', item.arguments)
  }
  if (!WORDS.includes(item.type)) {
    report.stepBegan(item.id)
    if (type === 'item.completed') report.stepEnded(item.id)
    return
  }
  if (type !== 'item.completed') return
  if (item.type === 'agent_message') report.text(item.text ?? '')
  if (item.type === 'reasoning') report.reasoning(item.text ?? '')
}
