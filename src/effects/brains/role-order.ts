import type { LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider'

/**
 * The same messages for a server that wants user and assistant to take turns: neighbouring messages
 * of the user are one, and after results the model speaks first: it is taken to have said what is
 * given as `between`. What was said before stays as it is when more is said.
 */
export function inStrictOrder(
  messages: LanguageModelV3Prompt,
  between: LanguageModelV3Prompt,
): LanguageModelV3Prompt {
  const ordered: LanguageModelV3Prompt = []
  for (const message of messages) {
    const before = ordered.at(-1)
    if (message.role === 'user' && before?.role === 'user') {
      ordered.splice(-1, 1, {
        role: 'user',
        content: joined([...before.content, ...message.content]),
      })
    } else if (message.role === 'user' && before?.role === 'tool') {
      ordered.push(...between, message)
    } else {
      ordered.push(message)
    }
  }
  return ordered
}

type UserContent = Extract<LanguageModelV3Message, { role: 'user' }>['content']

/** One text: the templates that are strict about roles mostly know no lists of parts. */
function joined(content: UserContent): UserContent {
  const texts = content.map((part) => (part.type === 'text' ? part.text : ''))
  return [{ type: 'text', text: texts.join('\n\n') }]
}
