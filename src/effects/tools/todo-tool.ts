import { z } from 'zod'
import { defineTool, said } from './tool.ts'
import { words } from './words.ts'

const ITEMS_MAX = 50

const SCHEMA = z.strictObject({
  items: z.array(z.strictObject({ text: words(500), done: z.boolean() })).max(ITEMS_MAX),
})

/** The name by which a conversation that is put into fewer words finds the list again. */
export const TODO_TOOL_NAME = 'todo_list'

/** Replaces the whole list each time, so that the last call is all there is to know. */
export const TODO_TOOLS = [
  defineTool({
    name: TODO_TOOL_NAME,
    description: 'Writes your list of what is to be done, all of it each time.',
    schema: SCHEMA,
    isReadOnly: true,
    run: async ({ items }) => said(printTodos(items)),
  }),
]

/** The list of such a call, as text; undefined when the input is none. */
export function todosIn(input: unknown): string | undefined {
  const parsed = SCHEMA.safeParse(input)
  return parsed.success ? printTodos(parsed.data.items) : undefined
}

function printTodos(items: z.output<typeof SCHEMA>['items']): string {
  if (items.length === 0) return '[nothing to do]'
  return items.map(({ text, done }) => `[${done ? 'x' : ' '}] ${text}`).join('\n')
}
