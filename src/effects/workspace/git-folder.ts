import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The files of a .git folder as they were when it was made: path, size and time of each. */
export type GitFolderRecord = Readonly<Record<string, string>>

/** Looks at every file of a .git folder; runs nothing and opens nothing. */
export function recordGitFolder(folder: string): GitFolderRecord {
  const files: Record<string, string> = {}
  for (const path of filesBelow(folder, '')) files[path] = fingerprint(join(folder, path)) ?? ''
  return files
}

/**
 * The files that were added or changed since. A sandbox lets nobody change them; without one a model
 * may have committed, stashed or staged something that is nowhere else.
 */
export function changedGitFiles(folder: string, record: GitFolderRecord): readonly string[] {
  // What is not about objects is little and says whether there is more to look at.
  const isUntouched = changed(folder, record, (path) => !path.startsWith('objects/')).length === 0
  return isUntouched ? [] : changed(folder, record, () => true)
}

/**
 * The files that are no longer there, but for those of objects, which are always of use: the ref of a
 * branch would win over the packed one that took its place. None where it is no repository any more,
 * since a clone's own is then of more use than half of one.
 */
export function goneGitFiles(folder: string, record: GitFolderRecord): readonly string[] {
  const isGone = (path: string) => fingerprint(join(folder, path)) === undefined
  if (isGone('HEAD')) return []
  return Object.keys(record).filter((path) => !path.startsWith('objects/') && isGone(path))
}

function changed(
  folder: string,
  record: GitFolderRecord,
  concerns: (path: string) => boolean,
): readonly string[] {
  return filesBelow(folder, '', concerns).filter((path) => {
    const seen = fingerprint(join(folder, path))
    return seen !== undefined && record[path] !== seen
  })
}

function filesBelow(
  folder: string,
  prefix: string,
  concerns: (path: string) => boolean = () => true,
): readonly string[] {
  return readFolder(join(folder, prefix)).flatMap((entry) => {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`
    if (entry.isDirectory()) {
      return concerns(`${path}/`) ? filesBelow(folder, path, concerns) : []
    }
    // To open a pipe is to wait for its other end.
    const isKept = entry.isFile() || entry.isSymbolicLink()
    return isKept && concerns(path) ? [path] : []
  })
}

/** Nothing for what cannot be read: too deep, or under a name that is no text. */
function readFolder(folder: string): readonly Dirent[] {
  try {
    // A link in the place of the folder leads to what is not the workspace's.
    if (!lstatSync(folder).isDirectory()) return []
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw error
    return []
  }
}

/**
 * Says whether a file is still the same: the change time cannot be set by hand. Undefined for one
 * that is not there under this path, as when its name is no text.
 */
export function fingerprint(path: string): string | undefined {
  try {
    const { size, ctimeMs } = lstatSync(path)
    return `${size}:${ctimeMs}`
  } catch {
    return undefined
  }
}
