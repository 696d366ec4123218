import { z } from 'zod'

const words = { content: z.object({ type: z.literal('text'), text: z.string() }) }
const step = { toolCallId: z.string() }
const count = z.int().min(0)

/** The updates that somebody listens to, with what the library that reads them cannot do without. */
const updateSchema = z.discriminatedUnion('sessionUpdate', [
  z.object({ sessionUpdate: z.enum(['agent_message_chunk', 'agent_thought_chunk']), ...words }),
  z.object({ sessionUpdate: z.literal('tool_call'), ...step, title: z.string() }),
  z.object({ sessionUpdate: z.literal('tool_call_update'), ...step }),
  z.object({ sessionUpdate: z.literal('usage_update'), used: count, size: count }),
  z.object({
    sessionUpdate: z.literal('notice'),
    severity: z.string(),
    title: z.string().min(1),
  }),
])

const notificationSchema = z.object({ sessionId: z.string(), update: updateSchema })

/** Whether an agent tells something of its session that is for us, in the form that it has to have. */
export function isSessionUpdate(params: unknown): boolean {
  return notificationSchema.safeParse(params).success
}
