import { z } from 'zod'
import { defaultSettings, FOUND_OUT } from './defaults.ts'
import { CONFIG_FILE } from './schema.ts'
import { describeRule, TRUST_RULES } from './trust-rules.ts'

/** The part of a JSON Schema that is read here. */
interface SchemaNode {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly minimum?: number
  readonly maximum?: number
}

/** The JSON Schema of a configuration file, for editors. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  const title = 'Configuration of Slipway'
  return { ...z.toJSONSchema(CONFIG_FILE, { io: 'input' }), title }
}

/** Every setting as a table in Markdown: what it may be, its default, what it means. */
export function keyTable(): string {
  const schema = configJsonSchema()
  const rows = [...defaultSettings()].map(([key, value]) => {
    const node = nodeAt(schema, key)
    const shown = value === null ? (FOUND_OUT[key] ?? '') : code(value)
    const rule = describeRule(TRUST_RULES[key] ?? 'trusted')
    return `| \`${key}\` | ${kindOf(node)} | ${shown} | ${rule} | ${node.description ?? ''} |`
  })
  const head =
    '| key | value | default | without trust | meaning |\n| --- | --- | --- | --- | --- |'
  return `${head}\n${rows.join('\n')}\n`
}

/** The keys of a model's entry as a table in Markdown. */
export function modelKeyTable(): string {
  const entry = nodeAt(configJsonSchema(), 'models.coder').properties ?? {}
  const rows = Object.entries(entry).map(
    ([key, node]) => `| \`${key}\` | ${kindOf(node)} | ${node.description ?? ''} |`,
  )
  return `| key | value | meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`
}

function nodeAt(schema: SchemaNode, key: string): SchemaNode {
  let node = schema
  for (const part of key.split('.')) {
    const next = node.properties?.[part]
    if (next === undefined) throw new Error(`the schema has no ${key}`)
    node = next
  }
  return node
}

function kindOf({ type, enum: choices, minimum, maximum }: SchemaNode): string {
  if (choices !== undefined) return choices.map(code).join(', ')
  if (type === 'boolean') return '`true`, `false`'
  if (type === 'string') return 'text'
  if (type === 'array') return 'list'
  if (type !== 'integer' && type !== 'number') return 'entry'
  const noun = type === 'integer' ? 'whole number' : 'number'
  return `${noun}, ${minimum?.toLocaleString('en')} to ${maximum?.toLocaleString('en')}`
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}
