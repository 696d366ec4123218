import { hasRepeatedKey } from '../brains/repeated-key.ts'

/** Far more than any form that is asked for. */
const CHARS_MAX = 200_000

const FENCED = /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```$/i

/**
 * The object that a text is: JSON and nothing else, or one fenced block of it. Undefined for every
 * other text, also for one that says something twice: nobody can tell which of the two is meant.
 */
export function readStrictJson(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.length > CHARS_MAX) return undefined
  const whole = text.replace(/^\uFEFF/, '').trim()
  const json = FENCED.exec(whole)?.[1] ?? whole
  if (!json.trimStart().startsWith('{')) return undefined
  try {
    const value = JSON.parse(json)
    return hasRepeatedKey(json) ? undefined : value
  } catch {
    return undefined
  }
}
