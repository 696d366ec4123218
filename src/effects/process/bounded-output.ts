const FIRST_BYTES = 4_096

/** What stands in the place of what was dropped. */
export function gapMark(droppedBytes: number): string {
  return `\n[${droppedBytes} bytes left out]\n`
}

/** Gathers output in bounded memory: its beginning and its end are kept, its middle is dropped. */
export class BoundedOutput {
  readonly #headBytesMax: number
  readonly #tailBytesMax: number
  // Copied into two blocks: kept chunks of one byte each would cost a hundred times what they hold.
  #head: Buffer = Buffer.alloc(0)
  #headBytes = 0
  /** A ring once it has its full size; before that it is filled from its start. */
  #tail: Buffer = Buffer.alloc(0)
  #tailBytes = 0

  constructor(bytesMax: number) {
    this.#headBytesMax = Math.floor(bytesMax / 2)
    this.#tailBytesMax = bytesMax - this.#headBytesMax
  }

  add(chunk: Uint8Array): void {
    const head = chunk.subarray(0, this.#headBytesMax - this.#headBytes)
    this.#head = grown(this.#head, this.#headBytes + head.length, this.#headBytesMax)
    this.#head.set(head, this.#headBytes)
    this.#headBytes += head.length
    this.#addToTail(chunk.subarray(head.length))
  }

  /** What was kept, with a line in the place of what was dropped. */
  take(): { readonly bytes: Buffer; readonly droppedBytes: number } {
    const head = this.#head.subarray(0, this.#headBytes)
    const droppedBytes = Math.max(0, this.#tailBytes - this.#tailBytesMax)
    if (droppedBytes === 0) {
      const tail = this.#tail.subarray(0, this.#tailBytes)
      return { bytes: Buffer.concat([head, tail]), droppedBytes }
    }
    const gap = Buffer.from(gapMark(droppedBytes))
    const oldest = this.#tailBytes % this.#tailBytesMax
    const tail = [this.#tail.subarray(oldest), this.#tail.subarray(0, oldest)]
    return { bytes: Buffer.concat([head, gap, ...tail]), droppedBytes }
  }

  #addToTail(chunk: Uint8Array): void {
    const sizeMax = this.#tailBytesMax
    if (chunk.length === 0 || sizeMax === 0) {
      this.#tailBytes += chunk.length
      return
    }
    this.#tail = grown(this.#tail, Math.min(this.#tailBytes + chunk.length, sizeMax), sizeMax)
    // What would be overwritten by the end of the same chunk need not be written.
    const kept = chunk.subarray(Math.max(0, chunk.length - sizeMax))
    const start = (this.#tailBytes + chunk.length - kept.length) % sizeMax
    const first = kept.subarray(0, sizeMax - start)
    this.#tail.set(first, start)
    this.#tail.set(kept.subarray(first.length), 0)
    this.#tailBytes += chunk.length
  }
}

/** The same block, or a larger one with the same beginning. */
function grown(block: Buffer, bytes: number, bytesMax: number): Buffer {
  if (bytes <= block.length) return block
  const larger = Buffer.alloc(Math.min(bytesMax, Math.max(FIRST_BYTES, 2 * block.length, bytes)))
  block.copy(larger)
  return larger
}
