import { createHash } from 'node:crypto'
import { asNamePart, isToolName, TOOL_NAME_CHARS_MAX } from '../../brains/tool-name.ts'
import { holdsSecret, redact } from '../../guards/redaction.ts'
import { canonicalHash } from './canonical-hash.ts'
import { type UnderstoodSchema, understandSchema } from './mcp-schema.ts'

/** A tool as its server describes it. */
export interface McpDefinition {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: unknown
  readonly outputSchema?: unknown
}

/** A tool that can be offered to a model, under a name that providers take. */
export interface OfferedTool {
  readonly name: string
  /** What the server calls it. */
  readonly calledName: string
  readonly description: string
  readonly schema: Extract<UnderstoodSchema, { ok: true }>['schema']
}

export interface Offer {
  readonly offered: readonly OfferedTool[]
  /** Tools that are left out, and why. */
  readonly refused: readonly { readonly tool: string; readonly reason: string }[]
}

const TOOLS_MAX = 100
const DESCRIPTION_CHARS_MAX = 2_000
const CONTROL = /[\p{Cc}\p{Cf}]/gu

/** What is pinned when a user trusts a server: everything that a model would read. */
export function definitionsHash(definitions: readonly McpDefinition[]): string {
  const said = definitions.map(({ name, description, inputSchema, outputSchema }) => ({
    name,
    description: description ?? null,
    inputSchema,
    outputSchema: outputSchema ?? null,
  }))
  return canonicalHash(said.sort((a, b) => (a.name < b.name ? -1 : 1)))
}

/**
 * The tools of a server that a model can be offered, in the order of their names. Secrets are taken
 * out of what is only read; a name or a schema that would not be the same without is not offered.
 */
export function offerTools(
  server: string,
  definitions: readonly McpDefinition[],
  secrets: readonly string[],
): Offer {
  const offered: OfferedTool[] = []
  const refused: { tool: string; reason: string }[] = []
  const sorted = [...definitions].sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const definition of sorted) {
    const read = readDefinition(server, definition, secrets)
    const reason =
      typeof read === 'string'
        ? read
        : offered.some(({ name }) => name === read.name)
          ? 'another tool has its name'
          : offered.length >= TOOLS_MAX
            ? `there are more than ${TOOLS_MAX} tools`
            : undefined
    if (reason !== undefined) {
      refused.push({ tool: redact(definition.name, secrets).slice(0, 100), reason })
    } else if (typeof read !== 'string') offered.push(read)
  }
  return { offered, refused }
}

/** The tool, or why it cannot be offered. */
function readDefinition(
  server: string,
  { name: calledName, description = '', inputSchema }: McpDefinition,
  secrets: readonly string[],
): OfferedTool | string {
  const understood = understandSchema(inputSchema)
  if (!understood.ok) return redact(understood.reason, secrets)
  if (holdsSecret(JSON.stringify([calledName, inputSchema]), secrets)) {
    return 'its name or its schema holds a secret, such as the value of a variable that you gave'
  }
  const { schema } = understood
  const name = offeredName(server, calledName)
  return { name, calledName, description: plain(redact(description, secrets)), schema }
}

/** Definitions as people are shown them: without secrets, wherever they are. */
export function showDefinitions(
  definitions: readonly McpDefinition[],
  secrets: readonly string[],
): readonly McpDefinition[] {
  const shown = (value: unknown): unknown => {
    if (typeof value === 'string') return redact(value, secrets)
    if (Array.isArray(value)) return value.map(shown)
    if (value === null || typeof value !== 'object') return value
    const entries = Object.entries(value).map(([key, each]) => [redact(key, secrets), shown(each)])
    return Object.fromEntries(entries)
  }
  return shown(definitions) as readonly McpDefinition[]
}

/**
 * `mcp__server__tool` in the characters that providers take. A name that had to be changed, or that
 * two tools could share, ends with a few characters of a hash.
 */
function offeredName(server: string, tool: string): string {
  const exact = `mcp__${server}__${tool}`
  // No two pairs of a server and a tool are written the same.
  const isClear = tool !== '' && ![server, tool, `${server}_`, `_${tool}`].some(hasSeparator)
  if (isClear && isToolName(exact)) return exact
  const hash = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, 8)
  const cut = asNamePart(exact).slice(0, TOOL_NAME_CHARS_MAX - hash.length - 1)
  return `${cut}_${hash}`
}

const hasSeparator = (text: string) => text.includes('__')

function plain(description: string): string {
  const text = description.replace(CONTROL, (each) => (each === '\n' ? each : ' ')).trim()
  if (text === '') return 'Its server says nothing about it.'
  return text.length <= DESCRIPTION_CHARS_MAX ? text : `${text.slice(0, DESCRIPTION_CHARS_MAX)} […]`
}
