import { delimit, materialAtEnd } from '../prompts/material.ts'
import type { KEPT_SECTIONS } from '../prompts/prompt-catalog.ts'

/** What is kept word for word beside a summary, in this order, and the line it stands under. */
const HEADS: Readonly<Record<KeptSection, string>> = {
  tests: 'What run_tests said when it failed last:',
  command: 'The last command that failed, and what it said:',
  todos: 'Your list of what is to be done:',
}

type KeptSection = keyof typeof KEPT_SECTIONS

export type KeptSections = Readonly<Partial<Record<KeptSection, string>>>

const NAMES = Object.keys(HEADS) as readonly KeptSection[]
const lineOf = (name: KeptSection) => `\n\n${HEADS[name]}\n`

/** The text of a summary with what is kept beside it, all of it as material. */
export function withSections(text: string, sections: KeptSections): string {
  const written = NAMES.map((name) => {
    const section = sections[name]
    return section === undefined ? '' : `${lineOf(name)}${delimit(name, section)}`
  })
  return `${text}${written.join('')}`
}

/**
 * What is kept in a text that `withSections` made, for the next summary. It is read from the end,
 * where the tags are ours: whatever a section holds, it is not taken for another one.
 */
export function sectionsIn(text: string): KeptSections {
  const material = materialAtEnd(text)
  const name = NAMES.find((each) => each === material?.name)
  if (material === undefined || name === undefined) return {}
  const { value, before } = material
  if (!before.endsWith(lineOf(name))) return {}
  return { ...sectionsIn(before.slice(0, -lineOf(name).length)), [name]: value }
}
