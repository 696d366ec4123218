import type { Message, ToolCall, ToolResult } from '../brains/brain.ts'
import { openFailures } from './open-failures.ts'
import type { Conversation } from './transcript.ts'

/** What is left of a result, an input or something said, where there is no room for it. */
const OLD_CHARS_MAX = 400
/** What is left of what fails now. */
export const FAILURE_CHARS_MAX = 4_000

/**
 * The messages of a conversation with what is said after them, in a request of at most so many bytes
 * where that is bounded. Where all of it fits, nothing is changed, and a provider's cache serves it.
 * Else the oldest results are cut first, and no more of them than has to be; what was said is cut
 * after all of them, and what the user said never, nor the first message with the story and the
 * plan. What still does not fit is longer than that.
 */
export function fitted(
  { system, tools, messages }: Conversation,
  told: readonly Message[],
  bytesMax: number | undefined,
): Message[] {
  if (bytesMax === undefined) return [...messages, ...told]
  let bytes = jsonBytes([system, tools, [...messages, ...told]])
  const shrink = <Part>(part: Part, shorter: Part): Part => {
    if (bytes <= bytesMax) return part
    bytes += jsonBytes(shorter) - jsonBytes(part)
    return shorter
  }
  const { tests, commands } = openFailures(messages)
  const open = [tests, ...commands].map((failure) => failure?.result)
  const charsMaxOf = (result: ToolResult) =>
    open.includes(result) ? FAILURE_CHARS_MAX : OLD_CHARS_MAX
  const worked = messages.map((message) => {
    if (message.role === 'assistant') return shrink(message, withShortInputs(message))
    return eachResult(message, (result) => shrink(result, cutTo(result, charsMaxOf(result))))
  })
  const said = worked.map((message) => {
    if (message.role === 'assistant') return shrink(message, cutTo(message, OLD_CHARS_MAX))
    return eachResult(message, (result) => shrink(result, cutTo(result, OLD_CHARS_MAX)))
  })
  return [...said, ...told]
}

/** A text without its middle, where it is longer. */
export function shortened(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const half = Math.floor(charsMax / 2)
  // A character may be cut in two.
  return `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`.toWellFormed()
}

function cutTo<Part extends { readonly text: string }>(part: Part, charsMax: number): Part {
  return { ...part, text: shortened(part.text, charsMax) }
}

function eachResult(message: Message, of: (result: ToolResult) => ToolResult): Message {
  return message.role === 'tool' ? { ...message, results: message.results.map(of) } : message
}

/** Without signed thoughts, which are about the inputs as they were. */
function withShortInputs(message: Message & { readonly role: 'assistant' }): Message {
  const { opaque: _, ...rest } = message
  return { ...rest, toolCalls: rest.toolCalls.map(cutCall) }
}

function cutCall(call: ToolCall): ToolCall {
  const text = JSON.stringify(call.input) ?? ''
  if (text.length <= OLD_CHARS_MAX) return call
  return { ...call, input: { shortened: shortened(text, OLD_CHARS_MAX) } }
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
