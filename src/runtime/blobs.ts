import type { BlobRef } from '../agents/values.ts'

/** Content-addressed storage for what is too large for a journal row. */
export interface BlobStore {
  /**
   * Durable when it resolves; the same content twice is stored once. Rejects with a NoRoomError
   * while there is no room.
   */
  put(content: Uint8Array | string): Promise<BlobRef>
  /** The content, verified against its hash; rejects when it is missing or damaged. */
  get(ref: BlobRef): Promise<Uint8Array>
}

/** Thrown by a store that has no room at present. Nothing was stored, and it may be tried again. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError'
}
