import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { JournalError } from '../runtime/journal.ts'
import { StateFolderError } from './state-folder-error.ts'

/** A start needs at least the small files of git, of the lock, and of what is said. */
const ROOM_BYTES_MIN = 1024 ** 2

/** How a full disk is told of, whatever comes after that. */
export const FULL_DISK = 'the disk is full; free some space'

/** How git and the system say that there is no room. */
const NO_ROOM = /No space left on device|Disk quota exceeded/

/** Makes the state folder, for its owner alone, so that it is there after a power failure too. */
export function makeStateFolder(folder: string): void {
  try {
    const first = makeFolders(resolve(folder))
    if (first !== undefined) syncNames(first, resolve(folder))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (hasNoRoom(error)) throw fullDisk(folder, error)
    throw new StateFolderError(
      `${folder} cannot be made (${code}). Choose a folder that you can write to with --state.`,
      { cause: error },
    )
  }
}

/**
 * Makes what is missing of a path, and says which was the first. Node's own way tries for ever
 * where a file system takes no folders and says that there is nothing, as /proc does.
 */
function makeFolders(folder: string): string | undefined {
  if (isFolder(folder)) return undefined
  const first = makeFolders(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(folder)) throw error
  }
  return first ?? folder
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Writes a small file of the state folder, for its owner alone. */
export function writeOwnFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // What is said about a read-only folder, or a full disk, is said for the whole of it.
    if (code === 'EACCES' || code === 'EROFS' || hasNoRoom(error)) throw error
    throw new StateFolderError(
      `${path} cannot be written (${code}). Mend that, or choose another folder with --state.`,
      { cause: error },
    )
  }
}

/** Refuses a folder in which nothing could begin. */
export function refuseUnwritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw toStateFolderError(error, folder)
  }
  if (isFull(folder)) throw fullDisk(folder)
}

/** Whether a disk has no room to begin anything. Where it does not say how large it is, it has. */
export function isFull(folder: string): boolean {
  const { blocks, bavail, bsize } = statfsSync(folder)
  return blocks > 0 && bavail * bsize < ROOM_BYTES_MIN
}

/** Says of a folder that its disk is full, and what to do. */
export function fullDisk(folder: string, cause?: unknown): StateFolderError {
  // A journal's words are for an engine, which tries it again; here nobody does.
  const said = cause instanceof JournalError ? cause.cause : cause
  const why = said === undefined ? '' : ` (${(said as Error).message})`
  const message = `${folder}: ${FULL_DISK}, and type it again${why}`
  return new StateFolderError(message, { cause })
}

/** What the system says of a state folder, with what to do; other errors as they are. */
export function toStateFolderError(error: unknown, folder: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (hasNoRoom(error)) return fullDisk(folder, error)
  if (code !== 'EACCES' && code !== 'EROFS') return error
  return new StateFolderError(
    `${folder} is read-only (${code}). Make it writable, or choose another folder with --state.`,
    { cause: error },
  )
}

/** Whether something failed for want of room, in our own calls or in those of git and SQLite. */
export function hasNoRoom(error: unknown): boolean {
  const { name, code, message } = error as NodeJS.ErrnoException
  if (error instanceof JournalError) return error.fault === 'full'
  return code === 'ENOSPC' || code === 'EDQUOT' || (name === 'GitError' && NO_ROOM.test(message))
}

/** A name is durable when its folder is: from the first folder that is new to the last. */
function syncNames(first: string, last: string): void {
  for (let path = last; path.length >= first.length; path = dirname(path)) {
    const descriptor = openSync(dirname(path), 'r')
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }
}
