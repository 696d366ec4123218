import type { Message, ToolCall, ToolResult } from '../brains/brain.ts'
import { openFailures } from './open-failures.ts'
import type { Conversation } from './transcript.ts'

/** What is left of a result, an input or something said, where there is no room for it. */
const OLD_CHARS_MAX = 400
/** What is left of what fails now. */
export const FAILURE_CHARS_MAX = 4_000

/**
 * The messages of a conversation with what is said after them, in a request of so many bytes at the
 * most. Where all of it fits, nothing is changed, and a provider's cache serves it. Else the oldest
 * results are cut first, and no more of them than has to be; what was said is cut after all of them,
 * and what the user said never, nor the first message with the story and the plan. What still does
 * not fit is longer than that.
 */
export function fitted(
  { system, tools, messages }: Conversation,
  told: readonly Message[],
  bytesMax: number,
): Message[] {
  const kept = [...messages]
  let bytes = jsonBytes([system, tools, [...messages, ...told]])
  const { tests, command } = openFailures(messages)
  const open = [tests?.result, command?.result]
  for (const cut of [cutWork(open), cutAll]) {
    for (const [i, message] of kept.entries()) {
      if (bytes <= bytesMax) break
      const shorter = cut(message)
      bytes += jsonBytes(shorter) - jsonBytes(message)
      kept[i] = shorter
    }
  }
  return [...kept, ...told]
}

/** A text without its middle, where it is longer. */
export function shortened(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const half = Math.floor(charsMax / 2)
  // A character may be cut in two.
  return `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`.toWellFormed()
}

/** Results and inputs, those that tell what fails now with more room than others. */
const cutWork =
  (open: readonly (ToolResult | undefined)[]) =>
  (message: Message): Message => {
    if (message.role === 'user') return message
    if (message.role === 'tool') {
      const charsMaxOf = (result: ToolResult) =>
        open.includes(result) ? FAILURE_CHARS_MAX : OLD_CHARS_MAX
      const results = message.results.map((result) => ({
        ...result,
        text: shortened(result.text, charsMaxOf(result)),
      }))
      return { ...message, results }
    }
    // Signed thoughts are about the inputs as they were.
    const { opaque: _, ...rest } = message
    return { ...rest, toolCalls: rest.toolCalls.map(cutCall) }
  }

function cutAll(message: Message): Message {
  const cut = cutWork([])(message)
  return cut.role === 'assistant' ? { ...cut, text: shortened(cut.text, OLD_CHARS_MAX) } : cut
}

function cutCall(call: ToolCall): ToolCall {
  const text = JSON.stringify(call.input) ?? ''
  if (text.length <= OLD_CHARS_MAX) return call
  return { ...call, input: { shortened: shortened(text, OLD_CHARS_MAX) } }
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
