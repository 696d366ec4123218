import type { ApiProvider } from './api-model.ts'
import { CompatibleReply, DONE } from './compatible-stream.ts'

/**
 * Data with nothing in it, by which gateways keep a connection alive. The libraries take it for half
 * a reply.
 */
const EMPTY_DATA = /^data(?::[ \t]*(?:null[ \t]*)?)?$/gm

/** A line of nothing but `[DONE]` comes in no more pieces. */
const DONE_PIECES_MAX = 16

const NOTHING = Buffer.alloc(0)

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
  #isDone = false

  constructor(provider: ApiProvider) {
    this.#compatible = provider === 'openai-compatible' ? new CompatibleReply() : undefined
  }

  /** Whether the provider said that this was all; what comes after it is nothing. */
  get isDone(): boolean {
    return this.#isDone
  }

  take(chunk: Buffer): Buffer {
    if (this.#isDone) return NOTHING
    // A character for each byte: all that is looked for is ASCII, and the rest comes out as it was.
    const text = chunk.toString('latin1')
    // Looked for among the bytes: in a text it would take longer than all the rest.
    const end = Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR)) + 1
    const whole = end === 0 ? '' : this.#joined(text.slice(0, end))
    if (end < text.length) this.#pieces.push(text.slice(end))
    const mended = this.#mend(this.#untilDone(this.#endsHere() ? whole + this.#joined('') : whole))
    return mended === text ? chunk : Buffer.from(mended, 'latin1')
  }

  /** What the stream ended with, without a line break. */
  end(): Buffer {
    return Buffer.from(this.#mend(this.#joined('')), 'latin1')
  }

  /** Whether a line is the last although it is not whole: its end may never come. */
  #endsHere(): boolean {
    const { length } = this.#pieces
    return length > 0 && length <= DONE_PIECES_MAX && DONE.test(this.#pieces.join(''))
  }

  #untilDone(lines: string): string {
    const done = lines.includes('[DONE]') ? DONE.exec(lines) : null
    if (done === null) return lines
    this.#isDone = true
    this.#pieces = []
    return lines.slice(0, done.index + done[0].length)
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
