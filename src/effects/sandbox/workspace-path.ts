import { resolve } from 'node:path'

/** Whether a path is a folder or below it, by its spelling. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

/** The folder that a command works in, or undefined when that is not in its workspace. */
export function workingFolder(workspace: string, cwd = '.'): string | undefined {
  const folder = resolve(workspace, cwd)
  return isWithin(workspace, folder) ? folder : undefined
}
