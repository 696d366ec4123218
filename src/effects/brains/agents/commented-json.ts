/**
 * Parses JSON as people write their settings: with comments, and commas before a closing bracket.
 * Undefined for what is none.
 */
export function parseCommented(text: string): unknown {
  const plain = text
    .replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, words = '') => words)
    .replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, words = '') => words)
  try {
    return JSON.parse(plain)
  } catch {
    return undefined
  }
}
