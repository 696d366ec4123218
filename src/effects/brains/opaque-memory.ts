import { createHash } from 'node:crypto'
import type { BrainFailure, Turn } from './brain.ts'

/** A 400 about reasoning that came back: signed for another key, or changed on the way. */
const ABOUT_OPAQUE = /signature|thinking|encrypted[_ ]content|reasoning|thought/i

/** Whether a provider does not take back what it gave, as far as its words say it. */
export function isOpaqueRefused({ kind, message }: BrainFailure): boolean {
  return kind === 'rejected' && ABOUT_OPAQUE.test(message)
}

/** Whether the turn has something in it that only its provider can read. */
export function hasOpaque(turn: Turn): boolean {
  return firstOpaqueIn(turn) !== undefined
}

/** Remembers for one brain whose opaque data was refused, so that a refusal is met once. */
export class OpaqueMemory {
  readonly #refused = new Set<string>()

  /** Whether the conversation may be sent with its opaque data. */
  isTaken(turn: Turn): boolean {
    const key = conversationOf(turn)
    return key === undefined || !this.#refused.has(key)
  }

  /** The provider has answered when it was asked that way. */
  keep(turn: Turn, withOpaque: boolean): void {
    const key = conversationOf(turn)
    if (key !== undefined && !withOpaque) this.#refused.add(key)
  }
}

/** A conversation grows at its end alone, so what it begins with tells it from others. */
function conversationOf(turn: Turn): string | undefined {
  const first = firstOpaqueIn(turn)
  if (first === undefined) return undefined
  return createHash('sha256').update(JSON.stringify(first)).digest('hex')
}

function firstOpaqueIn({ messages }: Turn): unknown {
  for (const message of messages) {
    if (message.role === 'assistant' && message.opaque !== undefined) return message.opaque
  }
  return undefined
}
