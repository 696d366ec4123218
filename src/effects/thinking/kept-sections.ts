/** What is kept word for word beside a summary, in this order, and the line it stands under. */
const HEADS = {
  tests: 'What run_tests said when it failed last:',
  command: 'The last command that failed, and what it said:',
  todos: 'Your list of what is to be done:',
} as const

export type KeptSection = keyof typeof HEADS

const NAMES = Object.keys(HEADS) as readonly KeptSection[]
const lineOf = (name: KeptSection) => `\n\n${HEADS[name]}\n`

/** The text of a summary with what is kept beside it. */
export function withSections(
  text: string,
  sections: Readonly<Partial<Record<KeptSection, string>>>,
): string {
  const written = NAMES.map((name) => {
    const section = sections[name]
    return section === undefined ? '' : `${lineOf(name)}${section}`
  })
  return `${text}${written.join('')}`
}

/** What is kept in a text that `withSections` made, for the next summary. */
export function sectionIn(text: string, name: KeptSection): string | undefined {
  const at = text.lastIndexOf(lineOf(name))
  if (at === -1) return undefined
  const begin = at + lineOf(name).length
  const later = NAMES.slice(NAMES.indexOf(name) + 1).map((next) => text.lastIndexOf(lineOf(next)))
  return text.slice(begin, Math.min(text.length, ...later.filter((end) => end >= begin)))
}
