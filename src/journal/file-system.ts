import { closeSync, fsyncSync, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { StateFolderError } from './state-folder-error.ts'

/** Makes the state folder, for its owner alone, so that it is there after a power failure too. */
export function makeStateFolder(folder: string): void {
  try {
    const first = makeFolders(resolve(folder))
    if (first !== undefined) syncNames(first, resolve(folder))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
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
    // What is said about a read-only folder is said for the whole of it.
    if (code === 'EACCES' || code === 'EROFS') throw error
    throw new StateFolderError(
      `${path} cannot be written (${code}). Mend that, or choose another folder with --state.`,
      { cause: error },
    )
  }
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
