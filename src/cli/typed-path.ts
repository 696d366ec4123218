import { relative } from 'node:path'

/**
 * How a repository is named in a git command that somebody types in this folder. Git takes a
 * relative path from the top of the user's files, wherever it is typed.
 */
export function typedPath(path: string, root: string, folder: string): string {
  const short = folder === root ? relative(root, path) : path
  return /^[\w./@%+,:=-]+$/.test(short) ? short : `'${short.replaceAll("'", `'\\''`)}'`
}
