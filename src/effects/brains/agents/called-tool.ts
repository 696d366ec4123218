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

/** How Codex announces a call. Its adapters differ in whether they mark it. */
const announcedSchema = z.object({
  rawInput: z.object({ server: z.string(), tool: z.string(), arguments: z.unknown().optional() }),
})

/** The mark is the program's own: the raw input of other tools is the model's. */
const markSchema = z.object({ _meta: z.object({ is_mcp_tool_call: z.literal(true) }) })

/** The form of Claude Code's names, which others have taken over. */
const NAME = /^mcp__(?<server>.+?)__(?<tool>.+)$/

/** The tool that a step calls; undefined where it calls none, or the agent does not say. */
export function readCalledTool(step: NamedStep): CalledTool | undefined {
  const announced = markSchema.safeParse(step).success ? readAnnouncedCall(step) : undefined
  if (announced !== undefined) return announced
  const { server, tool } = NAME.exec(step.name ?? '')?.groups ?? {}
  return server === undefined || tool === undefined ? undefined : { server, tool }
}

/**
 * The call that a step tells of, in the program's words or in its model's: what a command says is not
 * among them.
 */
export function readAnnouncedCall(step: NamedStep): CalledTool | undefined {
  const announced = announcedSchema.safeParse(step)
  if (!announced.success) return undefined
  const { server, tool, arguments: input } = announced.data.rawInput
  return { server, tool, input }
}

/** Whether a step names anew what it calls, so that what was known of it no longer holds. */
export function namesItsTool({ name, rawInput }: NamedStep): boolean {
  return typeof name === 'string' || rawInput !== undefined
}
