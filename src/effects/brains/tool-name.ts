/** The longest that all providers take. */
export const TOOL_NAME_CHARS_MAX = 64

/** What no provider takes in the name of a tool. */
const UNFIT = /[^a-zA-Z0-9_-]/g

/**
 * Whether every provider takes it as the name of a tool, in an offer and in a conversation. Google
 * wants a letter or an underscore in front.
 */
export function isToolName(name: string): boolean {
  return /^[a-zA-Z_][a-zA-Z0-9_-]*$/.test(name) && name.length <= TOOL_NAME_CHARS_MAX
}

/** A text with what fits a name alone. */
export function asNamePart(text: string): string {
  return text.replace(UNFIT, '_')
}
