import { JournalError } from '../../runtime/journal.ts'
import type { SqlValue } from './driver.ts'

const ADVICE = 'Keep a copy of the state folder, and restore it from a backup.'

/** Throws when what is stored does not match its checksum. */
export function verify(what: string, stored: SqlValue | undefined, computed: number): void {
  if (Number(stored) !== computed) throw damaged(what)
}

/** What is thrown for something that cannot be what was once written. */
export function damaged(what: string, cause?: unknown): JournalError {
  const message = `${what} is damaged: its content does not match its checksum. ${ADVICE}`
  return new JournalError('damaged', message, { cause })
}

/** What is thrown where something is named that is not there: it was once, since nothing goes. */
export function missing(what: string, namedBy: string): JournalError {
  return new JournalError('damaged', `${what} is missing, and ${namedBy} names it. ${ADVICE}`)
}
