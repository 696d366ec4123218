import { JournalError, type JournalFault } from '../../runtime/journal.ts'
import { FULL_DISK } from '../file-system.ts'

// Primary result codes, https://sqlite.org/rescode.html
const FAULTS: Readonly<Record<number, JournalFault>> = {
  5: 'busy',
  6: 'busy',
  8: 'read_only',
  10: 'lost',
  11: 'damaged',
  13: 'full',
  14: 'lost',
  26: 'damaged',
}

const ADVICE: Readonly<Record<JournalFault, string>> = {
  busy: 'another process holds the database; it is tried again',
  full: `${FULL_DISK}, it is tried again and goes on by itself`,
  read_only: 'the state folder is read-only; make it writable and start again',
  damaged:
    'the database is damaged; nothing was changed. Keep a copy of the state folder, and restore it from a backup or start with a new one (--state)',
  lost: 'the database cannot be read or written (disk error, or the folder is gone)',
}

/** What SQLite says of a damaged file, for what it does not notice itself. */
export function damagedFile(problem: string): Error {
  return Object.assign(new Error(problem), { errcode: 11 })
}

/** An error of SQLite as one of ours, with what to do about it; others are passed on as they are. */
export function toJournalError(error: unknown, path: string): Error {
  const code = (error as { errcode?: number }).errcode
  const fault = code === undefined ? undefined : FAULTS[code & 0xff]
  if (fault === undefined) return error instanceof Error ? error : new Error(String(error))
  const message = `${path}: ${ADVICE[fault]} (${(error as Error).message})`
  return new JournalError(fault, message, { cause: error })
}
