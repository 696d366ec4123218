import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { StateFolderError } from './state-folder-error.ts'

/** File systems that Linux reaches over a network, by the magic number that statfs gives. */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  16914839: '9P',
  12805120: 'Ceph',
  1397703499: 'OCFS2',
  1397113167: 'AFS',
  198183888: 'Lustre',
  1196443219: 'GPFS',
}

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

/** Refuses a folder on a network file system, where SQLite's locks and syncs cannot be relied on. */
export function refuseNetworkFileSystem(folder: string, statfs = statfsSync): void {
  if (process.platform !== 'linux') return
  const name = NETWORK_FILE_SYSTEMS[statfs(folder).type >>> 0]
  if (name === undefined) return
  throw new StateFolderError(
    `${folder} is on a network file system (${name}), where a crash can damage the journal. Choose a local folder with --state.`,
  )
}
