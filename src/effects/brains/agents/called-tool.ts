import { z } from 'zod'

/** A tool of an MCP server, named by the agent's program and in no words of its model. */
export interface CalledTool {
  readonly server: string
  readonly tool: string
  /** Absent where the agent does not say it. */
  readonly input?: unknown
}

/** A step, in the fields of the Agent Client Protocol that name what is called. */
export interface NamedStep {
  readonly name?: string | null | undefined
  readonly rawInput?: unknown
  readonly _meta?: Readonly<Record<string, unknown>> | null | undefined
}

/** How Codex announces a call. The mark is its own: the raw input of other tools is the model's. */
const markedSchema = z.object({
  _meta: z.object({ is_mcp_tool_call: z.literal(true) }),
  rawInput: z.object({ server: z.string(), tool: z.string(), arguments: z.unknown().optional() }),
})

/** The form of Claude Code's names, which others have taken over. */
const NAME = /^mcp__(?<server>.+?)__(?<tool>.+)$/

/** The tool that a step calls; undefined where it calls none, or the agent does not say. */
export function readCalledTool(step: NamedStep): CalledTool | undefined {
  const marked = markedSchema.safeParse(step)
  if (marked.success) {
    const { server, tool, arguments: input } = marked.data.rawInput
    return { server, tool, input }
  }
  const { server, tool } = NAME.exec(step.name ?? '')?.groups ?? {}
  return server === undefined || tool === undefined ? undefined : { server, tool }
}

/** Whether a step names anew what it calls, so that what was known of it no longer holds. */
export function namesItsTool({ name, rawInput }: NamedStep): boolean {
  return typeof name === 'string' || rawInput !== undefined
}
