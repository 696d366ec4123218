import { delimit, materialAtEnd } from '../prompts/material.ts'
import type { KEPT_SECTIONS } from '../prompts/prompt-catalog.ts'

/** What is kept word for word beside a summary, in this order, and the line it stands under. */
const HEADS: Readonly<Record<KeptSection, string>> = {
  message: 'What you were told by others meanwhile, which still holds:',
  tests: 'What run_tests said when it failed last:',
  command: 'Commands that failed and have not succeeded since, each with what it said:',
  todos: 'Your list of what is to be done:',
}

type KeptSection = keyof typeof KEPT_SECTIONS

export type KeptSections = Readonly<Partial<Record<KeptSection, readonly string[]>>>

const NAMES = Object.keys(HEADS) as readonly KeptSection[]
const lineOf = (name: KeptSection) => `\n\n${HEADS[name]}\n`

/** The text of a summary with what is kept beside it, all of it as material. */
export function withSections(text: string, sections: KeptSections): string {
  const written = NAMES.map((name) => {
    const kept = sections[name] ?? []
    const made = kept.map((each) => delimit(name, each)).join('\n')
    return made === '' ? '' : `${lineOf(name)}${made}`
  })
  return `${text}${written.join('')}`
}

/**
 * What is kept in a text that `withSections` made, for the next summary. It is read from the end,
 * where the tags are ours: whatever a section holds, it is not taken for another one.
 */
export function sectionsIn(text: string): KeptSections {
  const name = NAMES.find((each) => each === materialAtEnd(text)?.name)
  const section = name && sectionAtEnd(text, name)
  if (name === undefined || section === undefined) return {}
  return { ...sectionsIn(section.before), [name]: section.kept }
}

function sectionAtEnd(
  text: string,
  name: KeptSection,
): { readonly kept: readonly string[]; readonly before: string } | undefined {
  const material = materialAtEnd(text)
  if (material?.name !== name) return undefined
  const { value, before } = material
  const line = lineOf(name)
  if (before.endsWith(line)) return { kept: [value], before: before.slice(0, -line.length) }
  const rest = before.endsWith('\n') ? sectionAtEnd(before.slice(0, -1), name) : undefined
  return rest && { kept: [...rest.kept, value], before: rest.before }
}
