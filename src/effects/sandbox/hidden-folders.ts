import { realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { isWithin } from './workspace-path.ts'

/** What no sandbox shows: the user's home and the state folder, by every name. */
export function findHidden(stateFolder: string): Promise<readonly string[]> {
  return namesOf(homedir(), stateFolder)
}

/** Folders by the names that they were given, and by those that links lead to. */
async function namesOf(...folders: readonly string[]): Promise<readonly string[]> {
  const real = folders.map((folder) => realpath(folder).catch(() => folder))
  return [...new Set([...folders, ...(await Promise.all(real))])]
}

/**
 * Says where a path leads that is to be shown. Rejects when a hidden folder or the workspace is
 * there or below it, by whatever links: `what` says what it cannot be then.
 */
export async function resolveShown(
  path: string,
  { hidden, workspace }: { readonly hidden: readonly string[]; readonly workspace: string },
  what: string,
): Promise<string> {
  const forbidden = [...hidden, ...(await namesOf(workspace))]
  const real = await realpath(path).catch(() => resolve(path))
  for (const name of [resolve(path), real]) {
    if (!forbidden.some((folder) => isWithin(name, folder))) continue
    throw new Error(`${path} holds what a sandbox must hide, and cannot be ${what}`)
  }
  return real
}
