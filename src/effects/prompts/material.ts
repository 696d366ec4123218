import { createHash } from 'node:crypto'

/**
 * A text between tags that it cannot close itself, since what names them is not in it. The same
 * text has the same tags, so that providers find it in their caches.
 */
export function delimit(name: string, value: string): string {
  let tag: string
  let salt = 0
  do {
    const hash = createHash('sha256').update(`${salt}:${value}`).digest('hex')
    tag = `${name}-${hash.slice(0, 6)}`
    salt += 1
  } while (value.includes(tag))
  return `<${tag}>\n${value}\n</${tag}>`
}

const MATERIAL = /<((\w+)-[0-9a-f]{6})>\n([\s\S]*?)\n<\/\1>/g

/** A text with something else in the place of each thing that `delimit` made, tags and all. */
export function replaceMaterial(text: string, by: (name: string, made: string) => string): string {
  return text.replace(MATERIAL, (made: string, _tag: string, name: string) => by(name, made))
}

/** What `delimit` made in a text, in its order; nothing of what that holds itself. */
export function materialsIn(
  text: string,
): readonly { readonly name: string; readonly value: string }[] {
  return [...text.matchAll(MATERIAL)].map(([, , name = '', value = '']) => ({ name, value }))
}

const CLOSED = /<\/(\w+)-[0-9a-f]{6}>$/

/** What `delimit` made of a value at the end of a text, and the text before it. */
export function materialAtEnd(
  text: string,
): { readonly name: string; readonly value: string; readonly before: string } | undefined {
  const [closing, name] = CLOSED.exec(text) ?? []
  if (closing === undefined || name === undefined) return undefined
  const opening = `<${closing.slice(2)}\n`
  const at = text.lastIndexOf(opening)
  if (at === -1) return undefined
  const value = text.slice(at + opening.length, -closing.length - 1)
  return { name, value, before: text.slice(0, at) }
}
