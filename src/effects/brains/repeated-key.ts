const COLON = /\s*:/y
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]]/g

/** Whether some object of a sound JSON text has a key twice, of which a parser keeps one. */
export function hasRepeatedKey(json: string): boolean {
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
