import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

const ENTRIES_MAX = 100_000
const SKIPPED = ['node_modules', '.git']
const LISTING = { withFileTypes: true } as const

/**
 * The paths of all files below a folder, but for links, installed packages and what is git's;
 * undefined where there are too many. Never throws.
 */
export async function listFiles(root: string): Promise<readonly string[] | undefined> {
  const files: string[] = []
  const waiting = ['']
  let entries = 0
  for (const folder of waiting) {
    for (const entry of await readdir(join(root, folder), LISTING).catch(() => [])) {
      entries += 1
      if (entries > ENTRIES_MAX) return undefined
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory() && !SKIPPED.includes(entry.name)) waiting.push(path)
      if (entry.isFile()) files.push(path)
    }
  }
  return files
}
