import { holdsSecret } from '../guards/redaction.ts'
import type { ToolCall } from './brain.ts'

/** What stands in the place of an input that holds a secret. */
export const HELD_BACK = 'an input with a secret in it, which is not kept and not carried out'

/**
 * Known secrets alone: what only looks like one may be what the model is to write. An input with one
 * in it is not mended but made unfit, so that the call is refused and not carried out otherwise.
 */
export function cleanCall(call: ToolCall, secrets: readonly string[]): ToolCall {
  if (!isIn(call.input, secrets)) return call
  return { ...call, input: HELD_BACK }
}

/** What a provider wants back is signed: it is kept as it is, or not at all. */
export function mayKeep(opaque: unknown, secrets: readonly string[]): boolean {
  return opaque !== undefined && !isIn(opaque, secrets)
}

function isIn(value: unknown, secrets: readonly string[]): boolean {
  return holdsSecret(JSON.stringify(value) ?? '', secrets)
}
