import type { Spec } from './protocol.ts'

const HEADING = /^#{1,6}\s+(.*)$/
const CRITERIA_HEADING = /accept|criteri/i
const ITEM = /^\s*(?:(?:[-*+]|\d+[.)])\s+)(?:\[[ xX]?\]\s+)?(.*)$/
const OWN_ID = /^(?:\*\*)?([A-Z]{1,4}-?\d{1,4}|\d{1,3}(?:\.\d{1,3})*)(?:\*\*)?[.:)]\s+(.*)$/

/**
 * Reads a spec out of a document whose acceptance criteria are a list under a heading of that name.
 * Undefined where there is no such list: then somebody has to write it first.
 */
export function readSpec(document: string): Spec | undefined {
  const lines = document.split('\n')
  const title = lines.map((line) => HEADING.exec(line)?.[1]).find((text) => text !== undefined)
  const at = lines.findIndex((line) => CRITERIA_HEADING.test(HEADING.exec(line)?.[1] ?? ''))
  if (at === -1) return undefined
  const criteria: { id: string; text: string }[] = []
  for (const line of lines.slice(at + 1)) {
    if (HEADING.test(line)) break
    const item = ITEM.exec(line)?.[1]?.trim()
    const last = criteria.at(-1)
    if (item !== undefined && !/^\s{2,}/.test(line)) criteria.push(numbered(item, criteria.length))
    else if (last !== undefined && line.trim() !== '') last.text += `\n${line.trim()}`
  }
  if (criteria.length === 0) return undefined
  const isUnique = new Set(criteria.map(({ id }) => id)).size === criteria.length
  const named = isUnique ? criteria : criteria.map(({ text }, i) => ({ id: `${i + 1}`, text }))
  return { title: title?.trim() || 'Spec', body: document.trim(), criteria: named }
}

function numbered(item: string, index: number): { id: string; text: string } {
  const [, id, text] = OWN_ID.exec(item) ?? []
  return id === undefined || text === undefined
    ? { id: String(index + 1), text: item }
    : { id, text }
}
