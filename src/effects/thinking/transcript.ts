import { createHash } from 'node:crypto'
import type { Tail, Transcript } from '../../agents/thinking/outcomes.ts'
import type { BlobRef } from '../../agents/values.ts'
import type { BlobStore } from '../../runtime/blobs.ts'
import type { Message, ToolCall, ToolDefinition, ToolResult } from '../brains/brain.ts'

/** What a conversation begins with. Kept as it was, so that every turn sends the same bytes. */
interface Opening {
  readonly system: string
  readonly tools: readonly ToolDefinition[]
}

/** A part of a conversation; the first one has the opening, any other knows the one before it. */
export interface Part {
  readonly opening?: Opening
  readonly before?: BlobRef
  readonly messages: readonly Message[]
}

export interface Conversation extends Opening {
  readonly messages: readonly Message[]
}

/** What is longer is kept as a blob at once: it would be in several rows meanwhile. */
const TRAVELLING_CHARS_MAX = 4_096

const REMEMBERED_BYTES_MAX = 64 * 1024 * 1024

/** Reads and writes conversations, and remembers parts, since each turn needs all those before. */
export class Transcripts {
  readonly #parts = new Map<string, { readonly part: Part; readonly bytes: number }>()
  #bytes = 0

  /**
   * Adds a part at the end of a conversation, or begins one. A short part is not kept yet: `settle`
   * does that, and has to be done before the next part is added.
   */
  async add(
    blobs: BlobStore,
    transcript: Transcript | null,
    part: Omit<Part, 'before'>,
  ): Promise<Transcript> {
    const whole: Part = transcript === null ? part : { before: plain(transcript.tail), ...part }
    const text = JSON.stringify(whole)
    const isShort = text.length <= TRAVELLING_CHARS_MAX
    const ref = isShort ? refOf(text) : await blobs.put(text)
    this.#remember(ref, whole)
    const { parts, bytes } = transcript ?? { parts: 0, bytes: 0 }
    const tail: Tail = isShort ? { ...ref, text } : ref
    return { tail, parts: parts + 1, bytes: bytes + ref.bytes }
  }

  /** Keeps the last part, if it only travels along so far. */
  async settle(blobs: BlobStore, transcript: Transcript | null): Promise<void> {
    const text = transcript?.tail.text
    if (text !== undefined) await blobs.put(text)
  }

  async readPart(blobs: BlobStore, { sha256, bytes, text }: Tail): Promise<Part> {
    const known = this.#parts.get(sha256)
    if (known !== undefined) return known.part
    const ref = { sha256, bytes }
    const stored = text ?? Buffer.from(await blobs.get(ref)).toString()
    const part: Part = JSON.parse(stored)
    this.#remember(ref, part)
    return part
  }

  async read(blobs: BlobStore, { tail }: Transcript): Promise<Conversation> {
    const parts: Part[] = []
    for (let ref: Tail | undefined = tail; ref !== undefined; ) {
      const part: Part = await this.readPart(blobs, ref)
      parts.push(part)
      ref = part.before
    }
    parts.reverse()
    const opening = parts[0]?.opening
    if (opening === undefined) throw new Error('a conversation begins with its opening')
    return { ...opening, messages: answered(parts.flatMap(({ messages }) => messages)) }
  }

  #remember({ sha256, bytes }: BlobRef, part: Part): void {
    if (this.#parts.has(sha256)) return
    this.#parts.set(sha256, { part, bytes })
    this.#bytes += bytes
    for (const [oldest, kept] of this.#parts) {
      if (this.#bytes <= REMEMBERED_BYTES_MAX || oldest === sha256) return
      this.#parts.delete(oldest)
      this.#bytes -= kept.bytes
    }
  }
}

function plain({ sha256, bytes }: Tail): BlobRef {
  return { sha256, bytes }
}

/** The name under which a blob store keeps a text. */
function refOf(text: string): BlobRef {
  const content = Buffer.from(text)
  return { sha256: createHash('sha256').update(content).digest('hex'), bytes: content.length }
}

/**
 * Results of one reply's calls as one message, as providers want it. A call without a result was
 * overtaken by the end of its state, and that is its result.
 */
function answered(messages: readonly Message[]): Message[] {
  const joined: Message[] = []
  let open: readonly ToolCall[] = []
  let results: ToolResult[] = []
  const close = () => {
    if (open.length === 0) return
    const missing = open.filter(({ id }) => !results.some((result) => result.id === id))
    joined.push({ role: 'tool', results: [...results, ...missing.map(overtaken)] })
    open = []
    results = []
  }
  for (const message of messages) {
    if (message.role === 'tool') {
      results.push(...message.results)
      continue
    }
    close()
    joined.push(message)
    if (message.role === 'assistant') open = message.toolCalls
  }
  close()
  return joined
}

function overtaken({ id, name }: ToolCall): ToolResult {
  const text = 'Not carried out: another call had ended the work.'
  return { id, name, text, isError: true }
}
