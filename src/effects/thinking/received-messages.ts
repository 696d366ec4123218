import type { Message, ToolCall } from '../brains/brain.ts'
import { materialsIn } from '../prompts/material.ts'

/**
 * What others told a model since its first message, the newest at the end: answers, each with what
 * it had asked, and what a review or whoever granted more turns required. What a summary keeps of
 * them is told there again.
 */
export function receivedMessages(messages: readonly Message[]): readonly string[] {
  let question = ''
  return messages.slice(1).flatMap((message) => {
    if (message.role === 'assistant') question = questionIn(message.toolCalls)
    if (message.role !== 'user') return []
    const asked = question === '' ? '' : `You had asked: ${question}\n\n`
    question = ''
    const received = materialsIn(message.text).filter(({ name }) => name === 'message')
    return received.map(({ value }) => `${asked}${value}`)
  })
}

function questionIn(calls: readonly ToolCall[]): string {
  const { question } = (calls.at(-1)?.input ?? {}) as { readonly question?: unknown }
  return typeof question === 'string' ? question : ''
}
