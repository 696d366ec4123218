import { hash } from 'node:crypto'
import type { PartRef, Transcript } from '../../agents/thinking/outcomes.ts'
import type { BlobRef } from '../../agents/values.ts'
import { type BlobStore, NoRoomError } from '../../runtime/blobs.ts'
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

/** How long a disk that is full is waited for: what was paid for would be paid for again. */
const PUT_TRIES_MAX = 60
const PUT_DELAY_MS = 1_000

/** Reads and writes conversations, and remembers parts, since each turn needs all those before. */
export class Transcripts {
  readonly #parts = new Map<string, { readonly part: Part; readonly bytes: number }>()
  #bytes = 0

  /** Adds a part at the end of a conversation, or begins one. A short part only travels along. */
  async add(
    blobs: BlobStore,
    before: Transcript | null,
    part: Omit<Part, 'before'>,
  ): Promise<Transcript> {
    const whole: Part = before === null ? part : { before: plain(before.tail), ...part }
    const text = JSON.stringify(whole)
    const isShort = text.length <= TRAVELLING_CHARS_MAX
    const ref = isShort ? refOf(text) : await put(blobs, text)
    this.#remember(ref, whole)
    const tail: PartRef = isShort ? { ...ref, text } : ref
    if (before === null) return { tail, travelling: [], parts: 1, bytes: ref.bytes }
    const earlier = travellingOf(before)
    const chars = [...earlier, tail].reduce((sum, { text = '' }) => sum + text.length, 0)
    const mayTravel = chars <= TRAVELLING_CHARS_MAX
    if (!mayTravel) await this.settle(blobs, before)
    return {
      tail,
      travelling: mayTravel ? earlier : [],
      parts: before.parts + 1,
      bytes: before.bytes + ref.bytes,
    }
  }

  /** Keeps what only travels along so far; the same conversation without it. */
  async settle(blobs: BlobStore, transcript: Transcript): Promise<Transcript> {
    for (const { text } of travellingOf(transcript)) if (text !== undefined) await put(blobs, text)
    return { ...transcript, tail: plain(transcript.tail), travelling: [] }
  }

  /** One part of a conversation, which may only travel along with it. */
  async readPart(blobs: BlobStore, transcript: Transcript, ref: BlobRef): Promise<Part> {
    const known = this.#parts.get(ref.sha256)
    if (known !== undefined) return known.part
    const found = travellingOf(transcript).find(({ sha256 }) => sha256 === ref.sha256)
    const stored = found?.text ?? Buffer.from(await blobs.get(plain(ref))).toString()
    const part: Part = JSON.parse(stored)
    this.#remember(plain(ref), part)
    return part
  }

  async read(blobs: BlobStore, transcript: Transcript): Promise<Conversation> {
    const parts: Part[] = []
    for (let ref: BlobRef | undefined = transcript.tail; ref !== undefined; ) {
      // Most are remembered, and in a long conversation there are hundreds.
      const known: Part | undefined = this.#parts.get(ref.sha256)?.part
      const part: Part = known ?? (await this.readPart(blobs, transcript, ref))
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

/** The parts that are not kept yet, the oldest first. */
function travellingOf({ tail, travelling }: Transcript): readonly PartRef[] {
  return tail.text === undefined ? travelling : [...travelling, tail]
}

async function put(blobs: BlobStore, text: string): Promise<BlobRef> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await blobs.put(text)
    } catch (error) {
      // Room was waited for already, until there was nobody to wait for it.
      if (tries >= PUT_TRIES_MAX || error instanceof NoRoomError) throw error
      // A process that has nothing else to do any more does not stay for it.
      await new Promise((resolve) => setTimeout(resolve, PUT_DELAY_MS).unref())
    }
  }
}

function plain({ sha256, bytes }: BlobRef): BlobRef {
  return { sha256, bytes }
}

/** The name under which a blob store keeps a text. */
function refOf(text: string): BlobRef {
  const content = Buffer.from(text)
  return { sha256: hash('sha256', content, 'hex'), bytes: content.length }
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
