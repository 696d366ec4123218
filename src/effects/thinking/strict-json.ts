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

const COLON = /\s*:/y
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]]/g

/** Whether some object of a sound JSON text has a key twice, of which a parser keeps one. */
function hasRepeatedKey(json: string): boolean {
  const open: (Set<string> | null)[] = []
  for (const { 0: token, index } of json.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '}' || token === ']') open.pop()
    else {
      const keys = open.at(-1)
      COLON.lastIndex = index + token.length
      if (!keys || !COLON.test(json)) continue
      const key = JSON.parse(token)
      if (keys.has(key)) return true
      keys.add(key)
    }
  }
  return false
}
