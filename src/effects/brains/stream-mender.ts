import type { ApiProvider } from './api-model.ts'
import { CompatibleReply } from './compatible-stream.ts'

/**
 * Data with nothing in it, by which gateways keep a connection alive. The libraries take it for half
 * a reply.
 */
const EMPTY_DATA = /^data(?::[ \t]*(?:null[ \t]*)?)?$/gm

const LF = 0x0a
const CR = 0x0d

/** Not an empty line, which would end the event around it. */
const COMMENT = ':'

/**
 * Takes out of the events of one reply what the provider's library would fail over. Whatever is a
 * whole line by then is given back at once, so no event waits for the next.
 */
export class StreamMender {
  readonly #compatible: CompatibleReply | undefined
  /** Of a line that is not whole yet; joined once, since it may be long and come in little pieces. */
  #pieces: string[] = []

  constructor(provider: ApiProvider) {
    this.#compatible = provider === 'openai-compatible' ? new CompatibleReply() : undefined
  }

  take(chunk: Buffer): Buffer {
    // A character for each byte: all that is looked for is ASCII, and the rest comes out as it was.
    const text = chunk.toString('latin1')
    // Looked for among the bytes: in a text it would take longer than all the rest.
    const end = Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR)) + 1
    const lines = end === 0 ? '' : this.#joined(text.slice(0, end))
    if (end < text.length) this.#pieces.push(text.slice(end))
    const mended = this.#mend(lines)
    return mended === text ? chunk : Buffer.from(mended, 'latin1')
  }

  /** What the stream ended with, without a line break. */
  end(): Buffer {
    return Buffer.from(this.#mend(this.#joined('')), 'latin1')
  }

  #joined(last: string): string {
    if (this.#pieces.length === 0) return last
    const text = [...this.#pieces, last].join('')
    this.#pieces = []
    return text
  }

  #mend(lines: string): string {
    const told = lines.replace(EMPTY_DATA, COMMENT)
    return this.#compatible?.mend(told) ?? told
  }
}
