import type { Ecosystem } from './ecosystem.ts'

/** A Makefile with a target `test`, or else `check`. */
export const make: Ecosystem = async (files) => {
  // In the order in which make itself looks for them.
  const name = await files.firstOf('GNUmakefile', 'makefile', 'Makefile')
  const text = name === undefined ? undefined : await files.read(name)
  if (text === undefined) return []
  const lines = text.split('\n')
  const targets = new Set(lines.flatMap(targetsOf))
  const target = ['test', 'check'].find((each) => targets.has(each))
  if (target === undefined) return []
  const reason = `${name} has a target "${target}"`
  return [{ argv: ['make', target], reason, script: recipeOf(lines, target) }]
}

/** What a target itself runs. */
function recipeOf(lines: readonly string[], target: string): string {
  const start = lines.findIndex((line) => targetsOf(line).includes(target))
  const [first = '', ...rest] = lines.slice(start)
  const end = rest.findIndex((line) => !/^\t|^\s*$/.test(line))
  const commands = end < 0 ? rest : rest.slice(0, end)
  const inline = first.includes(';') ? first.slice(first.indexOf(';') + 1) : ''
  // A recipe may mark a command that is not to be shown, or whose failure does not count.
  return [inline, ...commands].map((line) => line.replace(/^\s*[@+-]*/, '')).join('\n')
}

/** The targets of a rule; an assignment such as `test := x` is none. */
function targetsOf(line: string): readonly string[] {
  const colon = line.indexOf(':')
  if (colon <= 0 || /^[\s#]/.test(line) || /^::?:?=/.test(line.slice(colon))) return []
  const names = line.slice(0, colon)
  return names.includes('=') ? [] : names.trim().split(/\s+/)
}
