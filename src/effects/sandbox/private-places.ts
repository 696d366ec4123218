import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** What not everybody may read. */
export interface PrivatePlaces {
  readonly folders: readonly string[]
  readonly files: readonly string[]
}

/** Where to look, and how. */
interface Search {
  readonly below: readonly string[]
  /** The most that is looked at, what is nearest first. */
  readonly entriesMax: number
  /** Whether files that can be executed are left alone. */
  readonly sparesPrograms: boolean
}

/** Finds what not everybody may read below some folders. Follows no links, and never throws. */
export function findPrivate({ below, entriesMax, sparesPrograms }: Search): PrivatePlaces {
  const found: { readonly folders: string[]; readonly files: string[] } = { folders: [], files: [] }
  const waiting = [...below]
  const spared = sparesPrograms ? 0o100 : 0
  let entries = 0
  for (const folder of waiting) {
    for (const name of namesIn(folder)) {
      entries += 1
      if (entries > entriesMax) return found
      const path = join(folder, name)
      const status = lstatSync(path, { throwIfNoEntry: false })
      if (status === undefined || status.isSymbolicLink()) continue
      const isFolder = status.isDirectory()
      const needed = isFolder ? 0o005 : 0o004
      const isOpen = (status.mode & needed) === needed
      if (isFolder) (isOpen ? waiting : found.folders).push(path)
      else if (!isOpen && (status.mode & spared) === 0) found.files.push(path)
    }
  }
  return found
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    // It went away meanwhile, or there is none.
    return []
  }
}
