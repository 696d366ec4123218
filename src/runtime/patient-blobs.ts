import type { BlobRef } from '../agents/values.ts'
import { type BlobStore, NoRoomError } from './blobs.ts'
import { type Clock, sleepUntil } from './clock.ts'

const RETRY_MS = 100
const RETRY_MS_MAX = 5_000

/** What the store said last to somebody who waits for room. */
export interface Shortage {
  error: string
}

/** The blobs as one try of an effect has them: room is waited for, until the try is to end. */
export class PatientBlobs implements BlobStore {
  readonly #blobs: BlobStore
  readonly #clock: Clock
  readonly #signal: AbortSignal
  readonly #shortages: Set<Shortage>
  #waitedMs = 0

  /** Adds to the shortages while somebody waits. */
  constructor(blobs: BlobStore, clock: Clock, signal: AbortSignal, shortages: Set<Shortage>) {
    this.#blobs = blobs
    this.#clock = clock
    this.#signal = signal
    this.#shortages = shortages
  }

  /** How long room was waited for, until the end of the present wait. */
  get waitedMs(): number {
    return this.#waitedMs
  }

  async put(content: Uint8Array | string): Promise<BlobRef> {
    const shortage = { error: '' }
    try {
      for (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
        try {
          return await this.#blobs.put(content)
        } catch (error) {
          if (!(error instanceof NoRoomError) || this.#signal.aborted) throw error
          shortage.error = error.message
        }
        this.#shortages.add(shortage)
        this.#waitedMs += waitMs
        await sleepUntil(this.#clock, this.#clock.nowMs() + waitMs, this.#signal)
      }
    } finally {
      this.#shortages.delete(shortage)
    }
  }

  get(ref: BlobRef): Promise<Uint8Array> {
    return this.#blobs.get(ref)
  }
}
