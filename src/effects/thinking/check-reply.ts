import type { ToolCall } from '../brains/brain.ts'
import { isToolName } from '../brains/tool-name.ts'
import { holdsSecret } from '../guards/redaction.ts'
import type { Reply } from './reply.ts'

/** Each is answered, and all their names fit a row. */
const CALLS_MAX = 64

/** Of all calls together: some proxies put what they want to see again into an id. */
const IDS_CHARS_MAX = 12_800

/** A character that a row has as it is, or with one more in front. */
const PLAIN_ID = /^[\x20-\x7e]+$/

/** So much of a name tells which one it was. */
const NAME_CHARS_SHOWN = 100

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
  const idsChars = calls.reduce((chars, { id }) => chars + id.length, 0)
  if (idsChars > IDS_CHARS_MAX) return 'the ids of the calls are too long'
  // A result is told by both, so that neither can be blacked out.
  const isSecret = calls.some(({ id, name }) => holdsSecret(`${id}\n${name}`, secrets))
  if (isSecret) return 'a call has a secret in its id or in its name'
  const isPlain = calls.every(({ id }) => PLAIN_ID.test(id))
  if (!isPlain) return 'a call has an id with unusual characters'
  // Nobody could tell which of them an answer is for.
  if (new Set(calls.map(({ id }) => id)).size < calls.length) return 'two calls have the same id'
  // Sent back with an answer, it would be refused, and the whole conversation with it.
  const unfit = calls.find(({ name }) => !isToolName(name))
  if (unfit === undefined) return undefined
  const shown = JSON.stringify(unfit.name.slice(0, NAME_CHARS_SHOWN))
  return `a call names the tool ${shown}, and no tool can have such a name`
}
