import type { CallToolResult } from '@modelcontextprotocol/client'
import { BoundedOutput } from '../../process/bounded-output.ts'

type Content = CallToolResult['content'][number]

/** The most of an answer that is kept at all; models are shown far less. */
const ANSWER_BYTES_MAX = 1_000_000

/** What a server answered, as text. What is no text is named, and not passed on. */
export function describeAnswer({ content, structuredContent }: CallToolResult): {
  readonly text: string
  /** How much of it was dropped out of its middle. */
  readonly droppedBytes: number
} {
  const output = new BoundedOutput(ANSWER_BYTES_MAX)
  const add = (text: string) => output.add(Buffer.from(text))
  for (const [i, part] of content.entries()) add(`${i === 0 ? '' : '\n'}${describe(part)}`)
  // A server says the same twice for those who want it structured.
  const hasText = content.some(({ type }) => type === 'text')
  if (structuredContent !== undefined && !hasText) add(JSON.stringify(structuredContent))
  const { bytes, droppedBytes } = output.take()
  return { text: bytes.toString('utf8') || '[an empty answer]', droppedBytes }
}

function describe(part: Content): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'image':
    case 'audio':
      return `[${part.type}: ${part.mimeType}, ${part.data.length} characters of base64, not shown]`
    case 'resource_link':
      return `[link: ${part.uri} (${part.name})]`
    case 'resource':
      return 'text' in part.resource
        ? part.resource.text
        : `[resource: ${part.resource.uri}, ${part.resource.blob.length} characters of base64, not shown]`
    default:
      return `[${String((part as { type: unknown }).type)}, not shown]`
  }
}
