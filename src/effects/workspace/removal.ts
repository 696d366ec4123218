import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeReadable } from './tree.ts'

/** Half of what the kernel takes for a path: what is moved to here has room below it. */
const PATH_CHARS_MAX = 2_000

/**
 * Removes a folder, whatever somebody has put into it: what may not be read, and folders inside
 * folders until no path is long enough to name the last.
 */
export async function removeFolder(folder: string): Promise<void> {
  for (;;) {
    makeReadable(folder, '')
    try {
      await rm(folder, { recursive: true, force: true })
      return
    } catch (error) {
      const deep = findDeep(folder)
      if ((error as NodeJS.ErrnoException).code !== 'ENAMETOOLONG' || deep === undefined)
        throw error
      await rename(deep, join(folder, randomUUID()))
    }
  }
}

function findDeep(folder: string): string | undefined {
  if (folder.length > PATH_CHARS_MAX) return folder
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const deep = entry.isDirectory() ? findDeep(join(folder, entry.name)) : undefined
    if (deep !== undefined) return deep
  }
  return undefined
}
