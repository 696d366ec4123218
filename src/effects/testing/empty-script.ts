const QUOTED = `(?:'[^'\\n]*'|"[^"\\n]*")`

/** What a script may hold and yet do nothing. Each begins where a statement could. */
const NOTHING = [
  // Blanks, a byte order mark among them, and empty statements.
  /[\s;]+/y,
  /\/\/[^\n\r\u2028\u2029]*/y,
  /\/\*[\s\S]*?\*\//y,
  /'use strict'|"use strict"/y,
  // What compilers leave of a file that had nothing but types.
  /export\s*\{\s*\}/y,
  /Object\.defineProperty\(exports, "__esModule", \{ value: true \}\)/y,
  // Names that are brought in for tests which nobody has written. Without names, what is brought in
  // may be the tests.
  new RegExp(`import\\b[^'"();]*\\bfrom\\s*${QUOTED}`, 'y'),
  new RegExp(
    `(?:const|let|var)\\s*(?:[\\w$]+|\\{[^{}'"()=]*\\})\\s*=\\s*require\\(\\s*${QUOTED}\\s*\\)(?:\\.[\\w$]+)*`,
    'y',
  ),
]

/**
 * Whether a script of JavaScript or TypeScript does nothing when it is run: it holds comments,
 * blanks and a shebang, at most imports besides. What is not sure to be nothing is something.
 */
export function doesNothing(script: string): boolean {
  let at = /^\ufeff?(?:#![^\n\r\u2028\u2029]*)?/.exec(script)?.[0].length ?? 0
  while (at < script.length) {
    const end = endOfNothing(script, at)
    if (end === undefined) return false
    at = end
  }
  return true
}

/** Where what does nothing ends, if such a thing stands there. */
function endOfNothing(script: string, at: number): number | undefined {
  for (const pattern of NOTHING) {
    pattern.lastIndex = at
    if (pattern.test(script)) return pattern.lastIndex
  }
  return undefined
}
