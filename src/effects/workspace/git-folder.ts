import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The files of a .git folder as they were when it was made: path, size and time of each. */
export type GitFolderRecord = Readonly<Record<string, string>>

/** Looks at every file of a .git folder; runs nothing and opens nothing. */
export function recordGitFolder(folder: string): GitFolderRecord {
  const files: Record<string, string> = {}
  for (const path of filesBelow(folder, '')) files[path] = fingerprint(join(folder, path))
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

function changed(
  folder: string,
  record: GitFolderRecord,
  concerns: (path: string) => boolean,
): readonly string[] {
  const paths = filesBelow(folder, '', concerns)
  return paths.filter((path) => record[path] !== fingerprint(join(folder, path)))
}

function filesBelow(
  folder: string,
  prefix: string,
  concerns: (path: string) => boolean = () => true,
): readonly string[] {
  // A link in the place of the folder leads to what is not the workspace's.
  if (!lstatSync(join(folder, prefix), { throwIfNoEntry: false })?.isDirectory()) return []
  const entries = readdirSync(join(folder, prefix), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`
    if (entry.isDirectory()) {
      return concerns(`${path}/`) ? filesBelow(folder, path, concerns) : []
    }
    // To open a pipe is to wait for its other end.
    const isKept = entry.isFile() || entry.isSymbolicLink()
    return isKept && concerns(path) ? [path] : []
  })
}

/** The change time cannot be set by hand. */
function fingerprint(path: string): string {
  const { size, ctimeMs } = lstatSync(path)
  return `${size}:${ctimeMs}`
}
