import type { ToolCall } from '../brains/brain.ts'
import { holdsSecret } from '../guards/redaction.ts'
import type { Reply } from './reply.ts'

/** Each is answered, and all their names fit a row. */
const CALLS_MAX = 64

const CALL_ID_CHARS_MAX = 200

/** A reply whose calls cannot be kept as they are is none: nothing of it is carried out. */
export function checkReply(reply: Reply, secrets: readonly string[]): Reply {
  const message = problemOf(reply.calls, secrets)
  if (message === undefined) return reply
  return { ...reply, calls: [], finish: 'failed', failure: { kind: 'invalid_output', message } }
}

function problemOf(calls: readonly ToolCall[], secrets: readonly string[]): string | undefined {
  if (calls.length > CALLS_MAX) {
    return `there are ${calls.length} calls in one reply, and at most ${CALLS_MAX} are taken`
  }
  if (calls.some(({ id }) => id.length > CALL_ID_CHARS_MAX)) return 'the id of a call is too long'
  // A result is told by both, so that neither can be blacked out.
  const isSecret = calls.some(({ id, name }) => holdsSecret(`${id}\n${name}`, secrets))
  return isSecret ? 'a call has a secret in its id or in its name' : undefined
}

/**
 * Known secrets alone: what only looks like one may be what the model is to write. An input with one
 * in it is not mended but made unfit, so that the call is refused and not carried out otherwise.
 */
export function cleanCall(call: ToolCall, secrets: readonly string[]): ToolCall {
  if (!isIn(call.input, secrets)) return call
  return { ...call, input: 'an input with a secret in it, which is not kept and not carried out' }
}

/** What a provider wants back is signed: it is kept as it is, or not at all. */
export function mayKeep(opaque: unknown, secrets: readonly string[]): boolean {
  return opaque !== undefined && !isIn(opaque, secrets)
}

function isIn(value: unknown, secrets: readonly string[]): boolean {
  return holdsSecret(JSON.stringify(value) ?? '', secrets)
}
