import { isObject } from '../workspace-files.ts'

/** How far scripts that run scripts are followed, and how long the whole may get. */
const EXPANSIONS_MAX = 10
const CHARS_MAX = 65_536

// `npm ci` is npm's own, whatever scripts there are; the others run a script by its name alone.
const CALL =
  /\b(?:npm (?:(?:run|run-script)(?: -s| --silent)? ([\w:.-]+)|(t|tst|test)\b)|(?:pnpm|yarn|bun)(?: (run))?(?: -s| --silent)? ([\w:.-]+))/g

/**
 * A command line with every call of a script in place of which its text is put: what runs before
 * and after it by its name, too. A script that is not there stays a call.
 */
export function inlineScripts(text: string, scripts: unknown): string {
  const known = isObject(scripts) ? scripts : {}
  let whole = text
  for (let i = 0; i < EXPANSIONS_MAX && whole.length <= CHARS_MAX; i += 1) {
    const next = whole.replace(CALL, (call, byNpm, ofNpm, run, other) => {
      // `bun test` is Bun's own runner, whatever the script says.
      if (call.startsWith('bun') && run === undefined) return call
      return scriptOf(byNpm ?? (ofNpm === undefined ? other : 'test'), known) ?? call
    })
    if (next === whole) break
    whole = next
  }
  return whole.slice(0, CHARS_MAX)
}

function scriptOf(name: string, known: Readonly<Record<string, unknown>>): string | undefined {
  const textOf = (key: string) => (Object.hasOwn(known, key) ? known[key] : undefined)
  const text = textOf(name)
  if (typeof text !== 'string') return undefined
  const around = (key: string) => {
    const other = textOf(key)
    return typeof other === 'string' ? [other] : []
  }
  return [...around(`pre${name}`), ...around(`post${name}`), text].join('\n')
}
