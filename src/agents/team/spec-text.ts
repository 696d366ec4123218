import type { Spec } from './protocol.ts'

const HEADING = /^(#{1,6})\s+(.*)$/
const CRITERIA_HEADING = /\bacceptance\b|\bcriteri(?:a|on)\b/i
const FENCE = /^\s*(```|~~~)/
const ITEM = /^\s*(?:(?:[-*+]|\d+[.)])\s+)(?:\[[ xX]?\]\s+)?(.*)$/
const OWN_ID = /^(?:\*\*)?([A-Z]{1,4}-?\d{1,4}|\d{1,3}(?:\.\d{1,3})*)(?:\*\*)?[.:)]\s+(.*)$/

interface Line {
  readonly text: string
  /** Of a heading. */
  readonly level?: number
  readonly isCode: boolean
}

/**
 * Reads a spec out of a document whose acceptance criteria are lists under headings of that name,
 * with what is below these headings. Undefined where there is no such list: then somebody has to
 * write it first.
 */
export function readSpec(document: string): Spec | undefined {
  const body = document
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .trim()
  const lines = readLines(body)
  const title = lines.find(({ level }) => level !== undefined)?.text
  const criteria: { id: string; text: string }[] = []
  for (const { text, isCode } of criteriaLines(lines)) {
    const item = isCode ? undefined : ITEM.exec(text)?.[1]?.trim()
    const last = criteria.at(-1)
    if (item !== undefined && !/^\s{2,}/.test(text)) criteria.push(numbered(item, criteria.length))
    else if (last !== undefined && text.trim() !== '') last.text += `\n${text.trim()}`
  }
  if (criteria.length === 0) return undefined
  const isUnique = new Set(criteria.map(({ id }) => id)).size === criteria.length
  const named = isUnique ? criteria : criteria.map(({ text }, i) => ({ id: `${i + 1}`, text }))
  return { title: title?.trim() || 'Spec', body, criteria: named }
}

/** What is between fences is an example, and has neither headings nor items. */
function readLines(body: string): Line[] {
  let fence: string | undefined
  return body.split('\n').map((text) => {
    const mark = FENCE.exec(text)?.[1]
    const isCode = fence !== undefined || mark !== undefined
    if (fence === undefined) fence = mark
    else if (mark === fence) fence = undefined
    const [, signs, heading] = isCode ? [] : (HEADING.exec(text) ?? [])
    if (signs === undefined || heading === undefined) return { text, isCode }
    return { text: heading, level: signs.length, isCode }
  })
}

/** The lines of every section of criteria, without headings. */
function criteriaLines(lines: readonly Line[]): Line[] {
  let section: number | undefined
  return lines.filter(({ text, level }) => {
    if (level === undefined) return section !== undefined
    if (CRITERIA_HEADING.test(text)) section = Math.min(section ?? level, level)
    else if (section !== undefined && level <= section) section = undefined
    return false
  })
}

function numbered(item: string, index: number): { id: string; text: string } {
  const [, id, text] = OWN_ID.exec(item) ?? []
  return id === undefined || text === undefined
    ? { id: String(index + 1), text: item }
    : { id, text }
}

/** A spec as others read it. */
export function specText({ title, body, criteria }: Spec): string {
  const list = criteria.map(({ id, text }) => `${id}. ${text}`).join('\n')
  return `${title}\n\n${body}\n\nAcceptance criteria:\n${list}`
}
