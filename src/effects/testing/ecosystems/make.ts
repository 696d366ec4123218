import type { Ecosystem } from './ecosystem.ts'

/** A Makefile with a target `test`, or else `check`. */
export const make: Ecosystem = async (files) => {
  // In the order in which make itself looks for them.
  const name = await files.firstOf('GNUmakefile', 'makefile', 'Makefile')
  const text = name === undefined ? undefined : await files.read(name)
  if (text === undefined) return []
  const targets = new Set(text.split('\n').flatMap(targetsOf))
  const target = ['test', 'check'].find((each) => targets.has(each))
  return target === undefined
    ? []
    : [{ argv: ['make', target], reason: `${name} has a target "${target}"` }]
}

/** The targets of a rule; an assignment such as `test := x` is none. */
function targetsOf(line: string): readonly string[] {
  const colon = line.indexOf(':')
  if (colon <= 0 || /^[\s#]/.test(line) || /^::?:?=/.test(line.slice(colon))) return []
  const names = line.slice(0, colon)
  return names.includes('=') ? [] : names.trim().split(/\s+/)
}
