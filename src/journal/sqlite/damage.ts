import { JournalError } from '../../runtime/journal.ts'
import type { SqlValue } from './driver.ts'

/** Throws when what is stored does not match its checksum. */
export function verify(what: string, stored: SqlValue | undefined, computed: number): void {
  if (Number(stored) !== computed) throw damaged(what)
}

/** What is thrown for something that cannot be what was once written. */
export function damaged(what: string, cause?: unknown): JournalError {
  const message = `${what} is damaged: its content does not match its checksum. Keep a copy of the state folder, and restore it from a backup.`
  return new JournalError('damaged', message, { cause })
}
