import { randomBytes } from 'node:crypto'
import { redact } from '../effects/guards/redaction.ts'

const WORDS_MAX = 4
const CHARS_MAX = 40

/** A new name for a run or a task, from the words that it is about, without what looks like a secret. */
export function nameAfter(text: string, otherwise: string): string {
  const words = redact(text)
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? [otherwise]
  return `${words.slice(0, WORDS_MAX).join('-').slice(0, CHARS_MAX)}-${randomBytes(2).toString('hex')}`
}

/** The title of a spec, which may have none. */
export function titleOf(document: string): string {
  return /^#+\s+(.*)$/m.exec(document)?.[1] ?? ''
}
