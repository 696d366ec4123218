/** Gathers output in bounded memory: its beginning and its end are kept, its middle is dropped. */
export class BoundedOutput {
  readonly #headBytesMax: number
  readonly #tailBytesMax: number
  readonly #head: Buffer[] = []
  #tail: Buffer[] = []
  #headBytes = 0
  #tailBytes = 0
  #droppedBytes = 0

  constructor(bytesMax: number) {
    this.#headBytesMax = Math.floor(bytesMax / 2)
    this.#tailBytesMax = bytesMax - this.#headBytesMax
  }

  add(chunk: Buffer): void {
    const room = this.#headBytesMax - this.#headBytes
    const head = chunk.subarray(0, room)
    if (head.length > 0) this.#head.push(head)
    this.#headBytes += head.length
    const rest = chunk.subarray(head.length)
    if (rest.length === 0) return
    this.#tail.push(rest)
    this.#tailBytes += rest.length
    // Joined rarely, so that a line of 10 GB costs as many copies as it has chunks.
    if (this.#tailBytes > 2 * this.#tailBytesMax + 65_536) this.#trim()
  }

  /** What was kept, with a line in the place of what was dropped. */
  take(): { readonly bytes: Buffer; readonly droppedBytes: number } {
    this.#trim()
    const dropped = this.#droppedBytes
    const gap = dropped > 0 ? [Buffer.from(`\n[${dropped} bytes left out]\n`)] : []
    return { bytes: Buffer.concat([...this.#head, ...gap, ...this.#tail]), droppedBytes: dropped }
  }

  #trim(): void {
    if (this.#tailBytes <= this.#tailBytesMax) return
    const all = Buffer.concat(this.#tail)
    const kept = all.subarray(all.length - this.#tailBytesMax)
    this.#droppedBytes += all.length - kept.length
    this.#tail = [Buffer.from(kept)]
    this.#tailBytes = kept.length
  }
}
