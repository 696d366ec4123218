import { z } from 'zod'
import { TASKS, toolboxOf } from '../src/effects/tools/toolbox.ts'

/** The part of a JSON Schema that is read here. */
interface SchemaNode {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly items?: SchemaNode
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
}

const HEAD = '| tool | input | value | default |\n| --- | --- | --- | --- |'

/** Every tool with its inputs as a table in Markdown, from the schemas that calls are held to. */
export function toolTable(): string {
  const tools = TASKS.flatMap((task) => toolboxOf(task).tools)
  const schemas = new Map(tools.map(({ name, schema }) => [name, schema]))
  const rows = [...schemas].flatMap(([name, schema]) => {
    const inputs = inputRows(schema)
    if (inputs.length === 0) return [`| \`${name}\` | none | | |`]
    return inputs.map((cells) => `| \`${name}\` | ${cells.join(' | ')} |`)
  })
  return `${HEAD}\n${rows.join('\n')}\n`
}

/** The inputs of one tool: the name of each, its value, and its default. */
export function inputRows(schema: z.ZodType): string[][] {
  return rowsOf(z.toJSONSchema(schema, { io: 'input' }) as SchemaNode, '')
}

function rowsOf({ properties = {}, required = [] }: SchemaNode, above: string): string[][] {
  return Object.entries(properties).flatMap(([key, node]) => {
    const name = `${above}${key}`
    const without = required.includes(key) ? 'needed' : 'none'
    const absent = node.default === undefined ? without : code(node.default)
    const below = rowsOf(node.items ?? node, node.items === undefined ? `${name}.` : `${name}[].`)
    return [[code(name), kindOf(node), absent], ...below]
  })
}

function kindOf(node: SchemaNode): string {
  const { type, enum: choices, items, pattern, maxLength } = node
  if (choices !== undefined) return choices.map(code).join(', ')
  if (type === 'boolean') return '`true`, `false`'
  if (type === 'array' && items !== undefined) return `${listOf(node)}: ${kindOf(items)}`
  if (type === 'integer') return `whole number, ${between(node)}`
  if (type === 'object') return 'entry'
  if (type !== 'string') throw new Error(`a tool has an input of an unknown type: ${type}`)
  if (pattern !== undefined) return `text like ${code(pattern)}`
  return maxLength === undefined ? 'text' : `text, at most ${figure(maxLength)} characters`
}

function listOf({ minItems = 0, maxItems }: SchemaNode): string {
  if (maxItems === undefined) return 'list'
  return minItems === 0 ? `list of at most ${maxItems}` : `list of ${minItems} to ${maxItems}`
}

function between({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: SchemaNode): string {
  if (maximum === Number.MAX_SAFE_INTEGER) return `at least ${figure(minimum)}`
  return `${figure(minimum)} to ${figure(maximum)}`
}

const figure = (count: number) => count.toLocaleString('en')

/** A text is shown as it is, unless it is empty; a bar would end the cell of the table. */
function code(value: unknown): string {
  const isPlain = typeof value === 'string' && value !== ''
  return `\`${(isPlain ? value : JSON.stringify(value)).replaceAll('|', '\\|')}\``
}
