import { z } from 'zod'
import type { ToolDefinition } from '../brains/brain.ts'
import { HELD_BACK } from '../brains/clean-call.ts'
import { refused, type Tool, type ToolAnswer, type ToolContext } from './tool.ts'

/** A call as the model made it. */
export interface RequestedCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

export interface AnsweredCall extends ToolAnswer {
  readonly id: string
  readonly name: string
}

const PROBLEMS_MAX = 5
const PROBLEM_CHARS_MAX = 500
const UNREADABLE = 'its input is no JSON object in which every key stands once'

/** What a brain is told about a tool. */
export function definitionOf({ name, description, schema, isStrict }: Tool): ToolDefinition {
  const { $schema: _, ...input } = z.toJSONSchema(schema, { io: 'input' })
  if (isStrict !== true) return { name, description, input }
  return { name, description, input: formOf(input as FormSchema), isStrict }
}

/** A schema, as far as a form has any of it. */
interface FormSchema {
  readonly type?: unknown
  readonly enum?: readonly unknown[]
  readonly items?: FormSchema
  readonly properties?: Readonly<Record<string, FormSchema>>
  readonly required?: readonly string[]
}

/** What providers can hold a call to while it is written; lengths and counts are left to us. */
function formOf({
  type,
  enum: values,
  items,
  properties,
  required,
}: FormSchema): Record<string, unknown> {
  const form: Record<string, unknown> = { type }
  if (values !== undefined) form.enum = values
  if (items !== undefined) form.items = formOf(items)
  if (properties === undefined) return form
  const forms = Object.entries(properties).map(([name, property]) => [name, formOf(property)])
  return { ...form, properties: Object.fromEntries(forms), required, additionalProperties: false }
}

/**
 * Answers calls in their order: read-only ones that follow each other at once, others one by one.
 * What is not exactly as the schema has it is not carried out. Never rejects.
 */
export async function answerCalls(
  tools: readonly Tool[],
  calls: readonly RequestedCall[],
  context: ToolContext,
): Promise<readonly AnsweredCall[]> {
  const answers: AnsweredCall[] = []
  let batch: RequestedCall[] = []
  const isReadOnly = ({ name }: RequestedCall) =>
    tools.find((tool) => tool.name === name)?.isReadOnly ?? false
  const flush = async () => {
    answers.push(...(await Promise.all(batch.map((call) => answerCall(tools, call, context)))))
    batch = []
  }
  for (const call of calls) {
    if (isReadOnly(call)) batch.push(call)
    else {
      await flush()
      answers.push(await answerCall(tools, call, context))
    }
  }
  await flush()
  return answers
}

async function answerCall(
  tools: readonly Tool[],
  { id, name, input }: RequestedCall,
  context: ToolContext,
): Promise<AnsweredCall> {
  const tool = tools.find((each) => each.name === name)
  const answer = tool === undefined ? unknown(name, tools) : await callTool(tool, input, context)
  return { id, name, ...answer }
}

async function callTool(tool: Tool, input: unknown, context: ToolContext): Promise<ToolAnswer> {
  if (input === HELD_BACK) {
    return refused(`${tool.name} was not run: its input has a secret of this run in it`)
  }
  // What a brain could not read it hands on as it came.
  if (typeof input === 'string') return refused(`${tool.name} was not run: ${UNREADABLE}`)
  try {
    const parsed = tool.schema.safeParse(input)
    if (!parsed.success) {
      const problems = parsed.error.issues.slice(0, PROBLEMS_MAX)
      const lines = problems.map(({ path, message }) =>
        `- ${path.join('.') || 'input'}: ${message}`.slice(0, PROBLEM_CHARS_MAX),
      )
      return refused(
        `${tool.name} was not run, because its input is not right:\n${lines.join('\n')}`,
      )
    }
    return await tool.run(parsed.data, context)
  } catch (error) {
    return refused(`${tool.name} failed: ${String(error).slice(0, 500)}`)
  }
}

function unknown(name: string, tools: readonly Tool[]): ToolAnswer {
  const names = tools.map((tool) => tool.name).join(', ')
  return refused(`there is no tool ${JSON.stringify(name.slice(0, 100))} here; there are ${names}`)
}
